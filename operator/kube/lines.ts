/** Splits a byte stream into lines. On bytes, because a chunk may end in the middle of a UTF-8 character. */
import { ProtocolError } from './errors.ts';

const newline = 0x0a;

/** A piece of JSON that is still growing. Chunks are joined once, when the line is whole: no quadratic copying. */
export class LineSplitter {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that this chunk completes, without empty ones. */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const line = this.#finish(chunk.subarray(start, end));
      if (line !== '') lines.push(line);
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    return lines;
  }

  /** Bytes of a line that never ended. */
  get pendingBytes(): number {
    return this.#bytes;
  }

  #keep(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes > this.#maxBytes) throw new ProtocolError(`a watch event is larger than ${this.#maxBytes} bytes`);
  }

  #finish(last: Buffer): string {
    if (this.#pieces.length === 0) return last.toString('utf8');
    this.#keep(last);
    const whole = Buffer.concat(this.#pieces, this.#bytes).toString('utf8');
    this.#pieces = [];
    this.#bytes = 0;
    return whole;
  }
}
