import { describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';

describe('the cluster of the test run', () => {
  test('has a kubeconfig and an audit log', () => {
    expect(existsSync(process.env['REPRISE_TEST_KUBECONFIG']!)).toBe(true);
    expect(readFileSync(process.env['REPRISE_TEST_AUDIT_LOG']!, 'utf8')).toContain('"level":"Metadata"');
  });
});
