import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createLog, type LogFormat, type LogLevel } from './create-log.ts';
import type { Fields } from './log.ts';

const noon = Date.parse('2026-11-21T12:00:00.123Z');

function logTo(lines: string[], format: LogFormat = 'json', level: LogLevel = 'info') {
  return createLog({ format, level, now: () => noon, write: (line) => lines.push(line) });
}

const linesOf = (format: LogFormat, level: LogLevel, write: (log: ReturnType<typeof createLog>) => void): string[] => {
  const lines: string[] = [];
  write(logTo(lines, format, level));
  return lines;
};

class Refused extends Error {
  readonly reason = 'Forbidden';
  readonly status = 403;
}

describe('the log', () => {
  test('writes time, level, message, then the fields, as one line of JSON', () => {
    const lines = linesOf('json', 'info', (log) =>
      log.info('caches synced', { seconds: 1.5, kinds: ['a', 'b'], ok: true }),
    );
    expect(lines).toEqual([
      '{"time":"2026-11-21T12:00:00.123Z","level":"info","msg":"caches synced","seconds":1.5,"kinds":["a","b"],"ok":true}\n',
    ]);
  });

  test('writes readable text with quotes only where they are needed', () => {
    const lines = linesOf('text', 'info', (log) =>
      log.warn('watch ended', { resource: 'pods', why: 'no answer', n: 3, gone: undefined, none: [] }),
    );
    expect(lines).toEqual(['12:00:00.123 WARN  watch ended resource=pods why="no answer" n=3\n']);
  });

  test('leaves out what is below its level', () => {
    const all = (log: ReturnType<typeof createLog>) => {
      log.debug('d');
      log.info('i');
      log.warn('w');
      log.error('e', new Error('x'));
    };
    expect(linesOf('json', 'debug', all)).toHaveLength(4);
    expect(linesOf('json', 'warn', all).map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['w', 'e']);
  });

  test('adds the fields of with() to each line, the line of its parent stays as it was', () => {
    const lines: string[] = [];
    const log = logTo(lines);
    const child = log.with({ controller: 'webserver' }).with({ name: 'a' });
    child.info('applied', { name: 'b' });
    log.info('bye');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { msg: 'applied', controller: 'webserver', name: 'b' },
      { msg: 'bye' },
    ]);
    expect(lines[1]).not.toContain('controller');
  });

  test('shows an error by its message, its causes, its reason and status', () => {
    const error = new Error('could not list', { cause: new Refused('no rights') });
    const [outer, inner] = linesOf('json', 'info', (log) => {
      log.error('list failed', error);
      log.error('list failed', new Refused('no rights'));
    });
    expect(JSON.parse(outer!)).toMatchObject({ error: 'could not list: no rights' });
    expect(JSON.parse(inner!)).toMatchObject({ error: 'no rights', reason: 'Forbidden', status: 403 });
    expect(outer).not.toContain('stack');
  });

  test('shows the stack of an error at debug level only', () => {
    const lines = linesOf('json', 'debug', (log) => log.error('failed', new Error('boom')));
    expect((JSON.parse(lines[0]!) as { stack: string }).stack).toMatch(/^Error: boom\n +at /);
  });

  test('survives errors that are no errors, and chains without an end', () => {
    const loop = new Error('loop');
    loop.cause = loop;
    const lines = linesOf('json', 'info', (log) =>
      [loop, 'a string', undefined, null, 7].forEach((thrown) => log.error('failed', thrown)),
    );
    expect(lines.map((line) => (JSON.parse(line) as { error: string }).error)).toEqual([
      'loop: loop: loop: loop: loop',
      'a string',
      'a thrown undefined',
      'a thrown object',
      'a thrown number',
    ]);
  });

  test('never lets a field replace time, level or message', () => {
    const lines = linesOf('json', 'info', (log) =>
      log.info('true message', { msg: 'forged', level: 'debug', time: 'never' }),
    );
    expect(JSON.parse(lines[0]!)).toEqual({ time: '2026-11-21T12:00:00.123Z', level: 'info', msg: 'true message' });
  });

  test('escapes terminal sequences and line separators', () => {
    const evil = 'a\u001b[2Jb\u009bc\u2028d\r\ne';
    for (const format of ['json', 'text'] as const) {
      const [line] = linesOf(format, 'info', (log) => log.info(evil, { evil, list: [evil] }));
      expect(line!.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
    }
  });

  test('cuts a value of unreasonable length', () => {
    const lines = linesOf('json', 'info', (log) => log.info('m', { huge: 'x'.repeat(100_000) }));
    expect(lines[0]!.length).toBeLessThan(9_000);
  });

  test('writes exactly one line whatever the message and the fields, and JSON gives the fields back', () => {
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.integer(),
      fc.boolean(),
      fc.array(fc.string({ unit: 'binary' })),
    );
    const key = fc
      .string({ minLength: 1, unit: 'binary' })
      .filter((name) => !['time', 'level', 'msg', '__proto__'].includes(name));
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.dictionary(key, value, { noNullPrototype: true }),
        (message, fields: Fields) => {
          const [text] = linesOf('text', 'info', (log) => log.info(message, fields));
          const [json] = linesOf('json', 'info', (log) => log.info(message, fields));
          expect(text!.trimEnd().split(/[\n\r\u2028\u2029\u0085]/)).toHaveLength(1);
          expect(JSON.parse(json!)).toEqual({
            time: '2026-11-21T12:00:00.123Z',
            level: 'info',
            msg: message,
            ...fields,
          });
        },
      ),
    );
  });
});
