import { cpuMsOf } from '../../test/harness/cpu-time.js';
import { pemBlocks } from './pem-blocks.js';

const block = (type: string, body = 'AQID\n') => `-----BEGIN ${type}-----\n${body}-----END ${type}-----\n`;

it.each<[string, string, string[]]>([
  ['no text', '', []],
  ['a block', block('A'), ['A 010203']],
  ['a block without a line break at the end', block('A').trimEnd(), ['A 010203']],
  ['a block of another system', block('A').replaceAll('\n', '\r\n'), ['A 010203']],
  ['spaces at the ends of lines', block('A').replaceAll('\n', ' \t\n'), ['A 010203']],
  ['an empty block', block('A', ''), ['A ']],
  ['text between blocks', `x\n${block('A')}y\n${block('B', 'AQ==\n')}z`, ['A 010203', 'B 01']],
  ['headers', block('A', 'Proc-Type: 4,ENCRYPTED\nDEK-Info: x\n\nAQID\n'), ['A 010203 with headers']],
  ['only headers', block('A', 'a: b\n'), []],
  ['no END line', '-----BEGIN A-----\nAQID\n', []],
  ['no BEGIN line', 'AQID\n-----END A-----\n', []],
  ['an END line of another type', '-----BEGIN A-----\nAQID\n-----END B-----\n', []],
  ['a BEGIN line without END before a block', `-----BEGIN A-----\nAQID\n${block('B')}`, ['B 010203']],
  ['a malformed block before a block', `${block('A', '!!!!\n')}${block('B')}`, ['B 010203']],
  ['base64 without padding', block('A', 'AQ\n'), []],
  ['a BEGIN within a line', `x${block('A')}`, []],
  ['an END within a line', '-----BEGIN A-----\nAQID-----END A-----\n', []],
  ['text after the END', block('A').replace(/\n$/, 'x\n'), []],
  ['text after the BEGIN', '-----BEGIN A-----x\nAQID\n-----END A-----\n', []],
])('PEM blocks of a text with %s', (_, text, want) => {
  const found = pemBlocks(text);
  const shown = found.map(
    ({ type, bytes, hasHeaders }) => `${type} ${bytes.toString('hex')}${hasHeaders ? ' with headers' : ''}`,
  );
  expect(shown).toEqual(want);
  for (const one of found) expect(text).toContain(one.text);
});

const size = 2_250_000;
const repeated = (text: string) => text.repeat(Math.ceil(size / text.length));

it.each<[string, string]>([
  ['BEGIN lines', repeated('-----BEGIN A-----\n')],
  ['BEGIN lines before the END of another type', `${repeated('-----BEGIN A-----\n')}-----END B-----\n`],
  ['BEGINs on one line', `\n${repeated('-----BEGIN ')}\n-----END A-----`],
  ['END lines', repeated('\n-----END A-----')],
  ['END lines after a BEGIN', `-----BEGIN A-----${repeated('\n-----END B-----')}`],
  ['headers', block('A', repeated('a:b\n'))],
  ['spaces after the BEGIN', `-----BEGIN A-----${repeated(' ')}x\nAQID\n-----END A-----\n`],
  ['spaces in the body', block('A', `${repeated(' ')}!\n`)],
  ['padding', block('A', `${repeated('=')}\n`)],
])('a text of 2 MB of %s is searched in linear time', (_, text) => {
  expect(cpuMsOf(() => expect(pemBlocks(text)).toEqual([]), 300)).toBeLessThan(300);
});
