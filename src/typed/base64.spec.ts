import { canonicalBase64 } from './base64.js';

describe('canonicalBase64', () => {
  it.each([
    ['', ''],
    ['YQ==', 'YQ=='],
    ['YWI=', 'YWI='],
    ['YW\r\nI=\n', 'YWI='],
    ['YR==', 'YQ=='],
    ['Y\nQ=\n=', 'YQ=='],
  ])('%j becomes %j', (text, want) => expect(canonicalBase64(text)).toEqual({ text: want }));

  it.each([
    ['***', 0],
    ['YQ', 2 - 2],
    ['YWJjYQ', 6 - 2],
    ['YQ=', 3],
    ['YQ=x', 2],
    ['Y===', 1],
    ['YWI=YWI=', 4],
    ['YW_-', 2],
    ['YWJj=', 4],
    ['YWä=', 2],
  ])('%j is invalid at byte %d', (text, badByteAt) => expect(canonicalBase64(text)).toEqual({ badByteAt }));
});
