/** Structured logs: a constant message, then fields. No object content, no secrets. */
export type Fields = Readonly<Record<string, string | number | boolean | undefined | readonly string[]>>;

export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  /** `error` is shown with its message, reason and, at debug level, its stack. */
  error(message: string, error: unknown, fields?: Fields): void;
  /** A log that adds these fields to each line. */
  with(fields: Fields): Log;
}
