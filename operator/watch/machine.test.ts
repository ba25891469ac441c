import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ApiError, ConnectionError, ProtocolError } from '../kube/errors.ts';
import { backoffMs, initialState, step, type Attempt, type Ending, type WatchState } from './machine.ts';

const half = (): number => 0.5;
const apiError = (status: number, retryAfterMs?: number): ApiError =>
  new ApiError({ status, reason: 'Some', message: 'some', ...(retryAfterMs !== undefined && { retryAfterMs }) });
const failed = (error: unknown): Ending => ({ type: 'failed', error });
const attempt = (ending: Ending, more: Partial<Attempt> = {}): Attempt => ({
  ending,
  listed: false,
  goodForMs: 0,
  ...more,
});
const watching: WatchState = { phase: 'watching', listMode: 'stream', failures: 0 };

describe('where the next attempt begins', () => {
  test.each([
    [
      'a list that was completed is not repeated',
      initialState,
      attempt({ type: 'ended' }, { listed: true }),
      'watching',
    ],
    ['a list that was not is', initialState, attempt(failed(new ConnectionError('gone', 'ECONNRESET'))), 'listing'],
    ['an ended watch resumes', watching, attempt({ type: 'ended' }), 'watching'],
    ['a broken one too', watching, attempt(failed(new ConnectionError('gone', 'ECONNRESET'))), 'watching'],
    ['a silent one too', watching, attempt({ type: 'silent' }), 'watching'],
    ['one that is behind too', watching, attempt({ type: 'behind' }), 'watching'],
    ['a bad line too', watching, attempt(failed(new ProtocolError('bad'))), 'watching'],
    ['a refusal for now too', watching, attempt(failed(apiError(429, 1000))), 'watching'],
    ['a lack of rights too', watching, attempt(failed(apiError(403))), 'watching'],
    ['410 lists', watching, attempt(failed(apiError(410))), 'listing'],
    ['410 right after a list lists again', initialState, attempt(failed(apiError(410)), { listed: true }), 'listing'],
    ['404 lists: what comes back under that name is another type', watching, attempt(failed(apiError(404))), 'listing'],
    ['a third refusal in a row lists', { ...watching, failures: 2 }, attempt(failed(apiError(500))), 'listing'],
    [
      'a third bad stream in a row lists',
      { ...watching, failures: 2 },
      attempt(failed(new ProtocolError('bad'))),
      'listing',
    ],
    [
      'an absent server does not, however long',
      { ...watching, failures: 99 },
      attempt(failed(new ConnectionError('gone', 'ECONNREFUSED'))),
      'watching',
    ],
    [
      'nor does one that asks for time',
      { ...watching, failures: 99 },
      attempt(failed(apiError(429, 1000))),
      'watching',
    ],
  ] as const)('%s', (_, state, given, phase) => {
    expect(step(state, given, half).state.phase).toBe(phase);
  });
});

describe('streamed lists', () => {
  test.each([
    ['are refused by 422', failed(apiError(422))],
    ['are refused by 400', failed(apiError(400))],
    ['do not come to their end', { type: 'unlisted' } as const],
    ['are ended by the server', { type: 'ended' } as const],
  ])('that %s are given up for pages at once', (_, ending) => {
    expect(step(initialState, attempt(ending), half)).toEqual({
      state: { ...initialState, listMode: 'pages' },
      delayMs: 0,
    });
  });

  test.each([
    ['a reset', failed(new ConnectionError('gone', 'ECONNRESET'))],
    ['a lack of rights', failed(apiError(403))],
    ['a busy server', failed(apiError(429, 1000))],
    ['silence', { type: 'silent' } as const],
  ])('that fail for another reason are tried again: %s', (_, ending) => {
    expect(step(initialState, attempt(ending), half).state.listMode).toBe('stream');
  });

  test('that were completed are not given up, however the watch ends', () => {
    expect(step(initialState, attempt(failed(apiError(400)), { listed: true }), half).state.listMode).toBe('stream');
  });

  test('refused while pages are asked for lead nowhere else', () => {
    const pages: WatchState = { ...initialState, listMode: 'pages' };
    expect(step(pages, attempt(failed(apiError(422))), half).state).toEqual({ ...pages, failures: 1 });
  });
});

describe('how long to wait', () => {
  test('not at all after a stream that lasted, or that our own timer cut', () => {
    for (const given of [
      attempt({ type: 'ended' }, { goodForMs: 10_000 }),
      attempt({ type: 'silent' }),
      attempt({ type: 'behind' }),
    ]) {
      expect(step({ ...watching, failures: 5 }, given, half)).toMatchObject({ state: { failures: 0 }, delayMs: 0 });
    }
  });

  test('a little after one that did not', () => {
    expect(step(watching, attempt({ type: 'ended' }, { goodForMs: 9_999 }), half).delayMs).toBe(187.5);
  });

  test('at least what the server asked for, and a quarter more at most', () => {
    expect(step(watching, attempt(failed(apiError(429, 8000))), () => 0).delayMs).toBe(8000);
    expect(step(watching, attempt(failed(apiError(429, 8000))), () => 1).delayMs).toBe(10_000);
  });

  test('our own backoff when it is longer than what the server asked for', () => {
    expect(step({ ...watching, failures: 20 }, attempt(failed(apiError(429, 1000))), half).delayMs).toBe(22_500);
  });

  test('between half of the whole and the whole; the whole doubles up to 30 s, for ever', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (failures, random) => {
          const whole = Math.min(30_000, 250 * 2 ** (failures - 1));
          const delay = backoffMs(failures, () => random);
          expect(delay).toBeGreaterThanOrEqual(whole / 2);
          expect(delay).toBeLessThanOrEqual(whole);
        },
      ),
    );
  });
});
