/** Plain cases; schema.cluster.test.ts holds the odd ones to the API server. */
import { describe, expect, test } from '@jest/globals';
import { formatted, oddlyFormatted } from '../test/schemas.ts';
import type { Format } from './formats.ts';
import { formats, hasFormat, isFormat } from './formats.ts';

const good: Readonly<Record<Format, readonly string[]>> = {
  'date-time': ['2026-01-02T03:04:05Z', '2024-02-29T23:59:59.999+01:00'],
  date: ['2024-02-29', '0001-01-01'],
  duration: ['1h30m', '-1.5s', '0', '2 weeks'],
  byte: ['YQ==', 'YWJj'],
  uuid: ['123e4567-e89b-12d3-a456-426614174000'],
  ipv4: ['10.0.0.1', '010.0.0.1'],
  ipv6: ['::1', '2001:db8::1'],
  cidr: ['10.0.0.0/8', '2001:db8::/32'],
  hostname: ['localhost', 'www.example.com'],
  'k8s-short-name': ['web-1'],
  'k8s-long-name': ['web-1.example.com'],
};

const bad: Readonly<Record<Format, readonly string[]>> = {
  'date-time': [
    '2026-01-02',
    '2026-01-02T03:04:05',
    '2026-01-02t03:04:05z',
    '2026-02-30T00:00:00Z',
    '2026-01-02T24:00:00Z',
  ],
  date: ['2023-02-29', '2026-1-2', '02.01.2026', ''],
  duration: ['1', '', 'soon', '1 fortnight', '9223372036854775808ns'],
  byte: ['', 'YQ', 'Y===', 'a-_='],
  uuid: ['123e4567', 'g23e4567-e89b-12d3-a456-426614174000'],
  ipv4: ['10.0.0', '10.0.0.256', '::1', ''],
  ipv6: ['10.0.0.1', ':::', 'fe80::1%eth0', '0001:00002::', ''],
  cidr: ['10.0.0.0', '10.0.0.0/33', '::/129', '/8', '10.0.0.0/+8'],
  hostname: ['-a', 'a..b', 'a_b', `${'a'.repeat(64)}.com`, ''],
  'k8s-short-name': ['a.b', 'A', '-a', 'a'.repeat(64), ''],
  'k8s-long-name': ['a..b', 'A.b', 'a'.repeat(254), ''],
};

describe.each(formats)('the format %s', (format) => {
  test('takes what it should', () => {
    expect(good[format].filter((text) => !hasFormat(format, text))).toEqual([]);
  });

  test('refuses what it should', () => {
    expect(bad[format].filter((text) => hasFormat(format, text))).toEqual([]);
  });

  test('is tried on a real API server too', () => {
    expect(formatted[format]?.length).toBeGreaterThan(3);
  });
});

test('formats that the language does not know are not checked, names that objects inherit are no formats', () => {
  expect(isFormat('uri')).toBe(false);
  expect(isFormat('constructor')).toBe(false);
  expect(hasFormat('uri', 'anything')).toBe(true);
  expect(Object.keys(oddlyFormatted).every(isFormat)).toBe(true);
});
