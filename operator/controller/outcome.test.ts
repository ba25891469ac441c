import { describe, expect, test } from '@jest/globals';
import { ApiError, ConnectionError } from '../kube/errors.ts';
import { ReconcileTimeout, Superseded, Terminal, verdictOfError, verdictOfOutcome } from './outcome.ts';

const refusal = (status: number, reason: string, retryAfterMs?: number): ApiError =>
  new ApiError({ status, reason, message: 'no', ...(retryAfterMs !== undefined && { retryAfterMs }) });

const soon = { then: 'retry' };
const reachable = { then: 'retry', pace: { baseMs: 100, maxMs: 10_000 } };

describe('what becomes of a key', () => {
  test('done is forgotten, requeueAfter is looked at then', () => {
    expect(verdictOfOutcome({ then: 'done' })).toEqual({ next: { then: 'forget' }, result: 'success' });
    expect(verdictOfOutcome({ then: 'requeueAfter', delayMs: 5 })).toEqual({
      next: { then: 'after', delayMs: 5 },
      result: 'requeue_after',
    });
  });

  test.each([
    ['a thrown error', new Error('x'), soon, 'error', 'error'],
    ['a thrown text', 'x', soon, 'error', 'error'],
    ['a server error', refusal(500, 'InternalError'), soon, 'error', 'error'],
    ['a refusal', refusal(422, 'Invalid'), soon, 'error', 'error'],
    ['a timeout', new ReconcileTimeout('x'), soon, 'error', 'error'],
    ['a broken connection', new ConnectionError('x', 'ECONNRESET'), reachable, 'error', 'debug'],
    ['a request without an answer', new ConnectionError('x', 'TIMEOUT'), reachable, 'error', 'error'],
    ['a server that is not ready', refusal(503, 'ServiceUnavailable'), reachable, 'error', 'error'],
    ['a type that is not served', refusal(404, 'NotFound'), reachable, 'error', 'error'],
    ['an expired token', refusal(401, 'Unauthorized'), reachable, 'error', 'error'],
    ['a conflict', refusal(409, 'Conflict'), soon, 'requeue', 'debug'],
    ['a cache that was behind', new Superseded('x'), soon, 'requeue', 'debug'],
    ['Retry-After', refusal(429, 'TooManyRequests', 7000), { ...reachable, atLeastMs: 7000 }, 'requeue', 'warn'],
    ['what stays so', new Terminal('RenderFailed', 'x'), { then: 'forget' }, 'error', 'debug'],
  ])('%s', (_what, error, next, ...[result, tell]) => {
    expect(verdictOfError(error, false)).toMatchObject({ next, result, tell });
  });

  test('only Terminal counts as a terminal error', () => {
    expect(verdictOfError(new Terminal('X', 'x'), false).isTerminal).toBe(true);
    expect(verdictOfError(new Error('x'), false).isTerminal).toBeUndefined();
  });

  test('whatever is thrown after the operator cut the run off is no failure', () => {
    for (const error of [new Error('x'), new ConnectionError('x', 'ABORTED'), new Terminal('X', 'x')])
      expect(verdictOfError(error, true)).toEqual({ next: { then: 'forget' }, result: 'requeue', tell: 'debug' });
  });
});
