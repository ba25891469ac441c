/** A log that a test reads. */
import type { Fields, Log } from '../operator/log/log.ts';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Fields;
  readonly error?: unknown;
}

export class RecordingLog implements Log {
  readonly lines: LogLine[];
  readonly #fields: Fields;

  constructor(lines: LogLine[] = [], fields: Fields = {}) {
    this.lines = lines;
    this.#fields = fields;
  }

  at(level: LogLine['level']): LogLine[] {
    return this.lines.filter((line) => line.level === level);
  }

  debug(message: string, fields?: Fields): void {
    this.#add('debug', message, fields);
  }

  info(message: string, fields?: Fields): void {
    this.#add('info', message, fields);
  }

  warn(message: string, fields?: Fields): void {
    this.#add('warn', message, fields);
  }

  error(message: string, error: unknown, fields?: Fields): void {
    this.lines.push({ level: 'error', message, error, fields: { ...this.#fields, ...fields } });
  }

  with(fields: Fields): Log {
    return new RecordingLog(this.lines, { ...this.#fields, ...fields });
  }

  #add(level: LogLine['level'], message: string, fields: Fields = {}): void {
    this.lines.push({ level, message, fields: { ...this.#fields, ...fields } });
  }
}
