import { describe, expect, test } from '@jest/globals';
import { samplesOf, sumOf } from './exposition.ts';

const text = `# HELP http_requests_total Requests.
# TYPE http_requests_total counter
http_requests_total{code="200",path="/a,b}\\"c\\\\n"} 3
http_requests_total{code="500",path="/a"} 1.5e+01 1395066363000
http_requests_total_created{code="200"} 99
up 1
up_since 7
`;

describe('samples', () => {
  test('have their labels, with commas, braces and escapes in them', () => {
    expect(samplesOf(text, 'http_requests_total')).toEqual([
      { labels: { code: '200', path: '/a,b}"c\\n' }, value: 3 },
      { labels: { code: '500', path: '/a' }, value: 15 },
    ]);
  });

  test('may have no labels, and are those of that very metric', () => {
    expect(samplesOf(text, 'up')).toEqual([{ labels: {}, value: 1 }]);
    expect(samplesOf(text, 'http')).toEqual([]);
  });

  test.each(['up', 'up nothing', 'up{a="b" 1', 'up{a=b} 1', 'up{a="b"}'])('refuse the line %j', (line) => {
    expect(() => samplesOf(`${line} `, 'up')).toThrow('cannot read the metric line');
  });
});

describe('a sum', () => {
  test('goes over the series that have the labels', () => {
    expect(sumOf(text, 'http_requests_total')).toBe(18);
    expect(sumOf(text, 'http_requests_total', { code: '500' })).toBe(15);
  });

  test('is 0 where nothing is', () => {
    expect(sumOf(text, 'http_requests_total', { code: '404' })).toBe(0);
    expect(sumOf(text, 'nothing')).toBe(0);
  });
});
