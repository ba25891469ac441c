/** metav1.Status, as refusals are told. */

export interface Refusal {
  readonly refused: true;
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

export const refusal = (
  code: number,
  reason: string,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): Refusal => ({
  refused: true,
  code,
  reason,
  message,
  ...(details !== undefined && { details }),
});

export const isRefusal = (value: unknown): value is Refusal => (value as Partial<Refusal> | null)?.refused === true;

export const statusOf = ({ code, reason, message, details }: Omit<Refusal, 'refused'>): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason,
  ...(details !== undefined && { details }),
  code,
});

/** What a watch or a continued list from a forgotten version gets. */
export const expired = (asked: number, oldest: number): Refusal =>
  refusal(410, 'Expired', `too old resource version: ${asked} (${oldest})`);
