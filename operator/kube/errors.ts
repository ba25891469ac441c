/**
 * What can go wrong with a request, as types. Callers ask the predicates; nobody matches on a message text.
 *
 * - ApiError: the server answered, and said no.
 * - ConnectionError: there was no (whole) answer; a write may or may not have happened.
 * - ProtocolError: an answer that cannot be right (not JSON, cut short, far too big).
 */

import { inspect } from 'node:util';

/** One cause in the details of a Status. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** `details` of a metav1.Status. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** The body of every refusal of an API server (metav1.Status). */
export interface Status {
  readonly kind: 'Status';
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: StatusDetails;
}

export interface ApiErrorProps {
  /** HTTP status. */
  readonly status: number;
  /** CamelCase, as in metav1.StatusReason; `Unknown` when the server gave none. */
  readonly reason: string;
  readonly message: string;
  /** How long the server asked us to wait. */
  readonly retryAfterMs?: number;
  readonly details?: StatusDetails;
  /** `PATCH /apis/apps/v1/…`, without the query. */
  readonly request?: string;
}

/** The server's refusal of a request, or an ERROR event of a watch. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
  readonly details: StatusDetails | undefined;
  readonly request: string | undefined;

  constructor(props: ApiErrorProps) {
    super(props.message);
    this.status = props.status;
    this.reason = props.reason;
    this.retryAfterMs = props.retryAfterMs;
    this.details = props.details;
    this.request = props.request;
  }
}

/** No answer: refused, reset, unreachable, TLS failure or silence. `code` is Node's (`ECONNRESET`, …) or `TIMEOUT`. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly reason = 'ConnectionFailed';
  readonly code: string;
  /** The connection had served before: the server may have closed it while our request was on its way. */
  readonly onKeptConnection: boolean;

  constructor(
    message: string,
    code: string,
    options: { readonly cause?: unknown; readonly onKeptConnection?: boolean } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.onKeptConnection = options.onKeptConnection ?? false;
  }
}

/** An answer that breaks the protocol: not JSON, ends in mid-object, larger than any API object can be. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
  readonly reason = 'BadAnswer';

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
  }
}

const hasStatus =
  (...statuses: readonly number[]) =>
  (error: unknown): error is ApiError =>
    error instanceof ApiError && statuses.includes(error.status);

export const isApiError = (error: unknown): error is ApiError => error instanceof ApiError;
export const isConnectionError = (error: unknown): error is ConnectionError => error instanceof ConnectionError;

export const isBadRequest = hasStatus(400);
export const isUnauthorized = hasStatus(401);
export const isForbidden = hasStatus(403);
/** The object is not there, nor perhaps its type or namespace: see isNotServed. */
export const isNotFound = hasStatus(404);
/** 410: the resourceVersion (or the continue token) is older than the server remembers. */
export const isGone = hasStatus(410);
/** 422: schema, CEL rule or another validation said no. `details.causes` names the fields. */
export const isInvalid = hasStatus(422);
export const isTooManyRequests = hasStatus(429);
export const isUnavailable = hasStatus(503);
/** The server gave up on time; a write may still have happened. */
export const isServerTimeout = hasStatus(504);

const hasReason = (error: unknown, status: number, reason: string): error is ApiError =>
  error instanceof ApiError && error.status === status && error.reason === reason;

/** 409 because of a precondition (uid, resourceVersion) or because another field manager owns the field. */
export const isConflict = (error: unknown): error is ApiError => hasReason(error, 409, 'Conflict');

/** 409 because an object of that name exists. */
export const isAlreadyExists = (error: unknown): error is ApiError => hasReason(error, 409, 'AlreadyExists');

/** 404 because the type itself is not served: its CRD is not installed (or not yet established). */
export const isNotServed = (error: unknown): error is ApiError =>
  isNotFound(error) && (error.details?.name === undefined || error.details.name === '');

/** 403 because the namespace is being deleted: nothing can be created there, and that is no lack of rights. */
export const isNamespaceTerminating = (error: unknown): error is ApiError =>
  isForbidden(error) && (error.details?.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating');

/** One line for a log or a condition, whatever was thrown. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : inspect(error, { breakLength: Infinity });

export const retryAfterMsOf = (error: unknown): number | undefined =>
  error instanceof ApiError ? error.retryAfterMs : undefined;

/** Reads a Status, however it came: as the body of a refusal or as the object of an ERROR event. */
export const apiErrorOfStatus = (
  body: Partial<Status>,
  fallback: { readonly status: number; readonly request?: string; readonly retryAfterMs?: number },
): ApiError => {
  const status = body.code ?? fallback.status;
  const seconds = body.details?.retryAfterSeconds;
  const retryAfterMs = fallback.retryAfterMs ?? (seconds !== undefined && seconds > 0 ? seconds * 1000 : undefined);
  return new ApiError({
    status,
    reason: body.reason !== undefined && body.reason !== '' ? body.reason : 'Unknown',
    message: body.message ?? `the API server answered ${status}`,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(body.details !== undefined && { details: body.details }),
    ...(fallback.request !== undefined && { request: fallback.request }),
  });
};
