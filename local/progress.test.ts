import { describe, expect, test } from '@jest/globals';

import { elapsed, progressOn } from './progress.ts';

function stream(isTTY: boolean): { text: string; isTTY: boolean; columns: number; write(text: string): void } {
  return {
    text: '',
    isTTY,
    columns: 20,
    write(text) {
      this.text += text;
    },
  };
}

describe('progress', () => {
  test('a state is written over by the next one on a terminal, and cut to its width', () => {
    const terminal = stream(true);
    const progress = progressOn(terminal);
    progress.update('1 of 2');
    progress.update('a state that is wider than the terminal');
    progress.say('done');
    expect(terminal.text).toBe('\r\u001b[K1 of 2\r\u001b[Ka state that is wid\r\u001b[Kdone\n');
  });

  test('elsewhere a state is a line, at most every ten seconds', () => {
    const file = stream(false);
    let now = 0;
    const progress = progressOn(file, () => now);
    for (now = 0; now < 25_000; now += 1_000) progress.update(`at ${now}`);
    progress.say('done');
    expect(file.text).toBe('at 0\nat 10000\nat 20000\ndone\n');
  });

  test.each([
    [0, '0:00'],
    [9_999, '0:09'],
    [100_000, '1:40'],
    [725_000, '12:05'],
    [3_723_000, '1:02:03'],
  ])('%d ms read %s', (ms, text) => {
    expect(elapsed(ms)).toBe(text);
  });
});
