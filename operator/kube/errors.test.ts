import { describe, expect, test } from '@jest/globals';
import * as errors from './errors.ts';

const refused = (status: number, reason = 'Some', details?: errors.StatusDetails): errors.ApiError =>
  new errors.ApiError({ status, reason, message: 'no', ...(details !== undefined && { details }) });

describe('a refusal is recognised by its status and reason, never by its text', () => {
  test.each([
    ['isBadRequest', refused(400)],
    ['isUnauthorized', refused(401)],
    ['isForbidden', refused(403)],
    ['isNotFound', refused(404)],
    ['isGone', refused(410)],
    ['isInvalid', refused(422)],
    ['isTooManyRequests', refused(429)],
    ['isUnavailable', refused(503)],
    ['isServerTimeout', refused(504)],
    ['isConflict', refused(409, 'Conflict')],
    ['isAlreadyExists', refused(409, 'AlreadyExists')],
  ] as const)('%s', (name, error) => {
    expect(errors[name](error)).toBe(true);
    for (const other of [
      refused(418),
      refused(409, 'Other'),
      new Error('no'),
      undefined,
      null,
      'no',
      { status: error.status, reason: error.reason },
    ]) {
      expect(errors[name](other)).toBe(false);
    }
  });

  test('a type that is not served is told from an object that is not there', () => {
    expect(errors.isNotServed(refused(404, 'NotFound', {}))).toBe(true);
    expect(errors.isNotServed(refused(404, 'NotFound', { name: '' }))).toBe(true);
    expect(errors.isNotServed(refused(404, 'NotFound', { name: 'a', kind: 'widgets' }))).toBe(false);
    expect(errors.isNotServed(refused(403, 'Forbidden'))).toBe(false);
  });

  test('a namespace that ends is told from a lack of rights', () => {
    const ending = refused(403, 'Forbidden', { causes: [{ reason: 'NamespaceTerminating' }] });
    expect(errors.isNamespaceTerminating(ending)).toBe(true);
    expect(errors.isNamespaceTerminating(refused(403, 'Forbidden'))).toBe(false);
    expect(errors.isForbidden(ending)).toBe(true);
  });
});

describe('reading a Status', () => {
  test('the body says more than the status line', () => {
    const body = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old', details: { name: 'a' } } as const;
    expect(errors.apiErrorOfStatus(body, { status: 200 })).toMatchObject({
      status: 410,
      reason: 'Expired',
      message: 'too old',
      details: { name: 'a' },
    });
  });

  test('the header Retry-After comes before the details', () => {
    const body = { details: { retryAfterSeconds: 7 } };
    expect(errors.apiErrorOfStatus(body, { status: 429, retryAfterMs: 2000 }).retryAfterMs).toBe(2000);
    expect(errors.apiErrorOfStatus(body, { status: 429 }).retryAfterMs).toBe(7000);
    expect(
      errors.apiErrorOfStatus({ details: { retryAfterSeconds: 0 } }, { status: 429 }).retryAfterMs,
    ).toBeUndefined();
  });

  test('an empty one still says what it knows', () => {
    expect(errors.apiErrorOfStatus({}, { status: 500, request: 'GET /x' })).toMatchObject({
      status: 500,
      reason: 'Unknown',
      message: 'the API server answered 500',
      request: 'GET /x',
    });
  });
});

test('anything that was thrown has one line', () => {
  expect(errors.messageOf(new Error('no'))).toBe('no');
  expect(errors.messageOf({ a: 1 })).toBe('{ a: 1 }');
  expect(errors.messageOf(undefined)).toBe('undefined');
});
