import { quotedCharactersMax } from '../machinery/go-quote.js';
import { cpuMsOf } from '../../test/harness/cpu-time.js';
import { canonicalMicroTime, canonicalTime } from './go-time.js';

describe('canonicalTime', () => {
  it.each([
    ['2006-01-02T15:04:05Z', '2006-01-02T15:04:05Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
    ['2006-01-02T15:04:05.999Z', '2006-01-02T15:04:05Z'],
    ['2006-01-02T15:04:05,5+02:30', '2006-01-02T12:34:05Z'],
    ['2006-01-02T1:04:05Z', '2006-01-02T01:04:05Z'],
    ['1999-12-31T23:59:59-01:00', '2000-01-01T00:59:59Z'],
    ['0050-01-01T00:00:00Z', '0050-01-01T00:00:00Z'],
    ['2026-01-31T23:59:59Z', '2026-01-31T23:59:59Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00Z'],
    ['0001-01-01T00:00:00Z', null],
    ['0001-01-01T01:00:00+01:00', null],
  ])('%s becomes %s', (text, want) => expect(canonicalTime(text)).toBe(want));

  const layout = '2006-01-02T15:04:05Z07:00';
  const cannot = (rest: string, element: string) => ` as "${layout}": cannot parse "${rest}" as "${element}"`;
  it.each([
    ['', cannot('', '2006')],
    ['2020', cannot('', '-')],
    ['2020-1-01T00:00:00Z', cannot('1-01T00:00:00Z', '01')],
    ['2020-13-01T00:00:00Z', ': month out of range'],
    ['2020-02-30T00:00:00Z', ': day out of range'],
    ['2021-02-29T00:00:00Z', ': day out of range'],
    ['2020-01-00T00:00:00Z', ': day out of range'],
    ['2020-01-32T00:00:00Z', ': day out of range'],
    ['2020-04-31T00:00:00Z', ': day out of range'],
    ['1900-02-29T00:00:00Z', ': day out of range'],
    ['2020-01-01 00:00:00Z', cannot(' 00:00:00Z', 'T')],
    ['2020-01-01T24:00:00Z', ': hour out of range'],
    ['2020-01-01T00:60:00Z', ': minute out of range'],
    ['2020-01-01T00:00:60Z', ': second out of range'],
    ['2020-01-01T00:00:00', cannot('', 'Z07:00')],
    ['2020-01-01T00:00:00z', cannot('z', 'Z07:00')],
    ['2020-01-01T00:00:00+0100', cannot('+0100', 'Z07:00')],
    ['2020-01-01T00:00:00+25:00', ': time zone offset hour out of range'],
    ['2020-01-01T00:00:00Zx', ': extra text: "x"'],
    ['2020-01-01T00:00:00Z\u00e4', ': extra text: "\\xc3\\xa4"'],
  ])('refuses %j', (text, want) => {
    const shown = text.replace('ä', '\\xc3\\xa4');
    expect(() => canonicalTime(text)).toThrow(new Error(`parsing time "${shown}"${want}`));
  });
});

describe('canonicalMicroTime', () => {
  it.each([
    ['2006-01-02T15:04:05.000000Z', '2006-01-02T15:04:05.000000Z'],
    ['2006-01-02T15:04:05.123456+01:00', '2006-01-02T14:04:05.123456Z'],
    ['0001-01-01T00:00:00.000000Z', null],
    ['2028-02-29T23:59:59.999999Z', '2028-02-29T23:59:59.999999Z'],
  ])('%s becomes %s as a MicroTime', (text, want) => expect(canonicalMicroTime(text)).toBe(want));

  it.each([
    ['2006-01-02T15:04:05.1Z', '.1Z', '.000000'],
    ['2006-01-02T15:04:05.1234567Z', '7Z', 'Z07:00'],
  ])('refuses %s as a MicroTime', (text, rest, element) =>
    expect(() => canonicalMicroTime(text)).toThrow(`cannot parse "${rest}" as "${element}"`),
  );
});

it('canonical times are not parsed, whatever their day', () => {
  const days = Array.from({ length: 31 }, (_, day) => `2026-12-${String(day + 1).padStart(2, '0')}T01:02:03`);
  const texts = days.flatMap((text) => [`${text}Z`, `${text}.000004Z`]);
  const convertAll = () => {
    for (let round = 0; round < 1_000; round++) {
      for (const text of texts) (text.length === 20 ? canonicalTime : canonicalMicroTime)(text);
    }
  };
  expect(cpuMsOf(convertAll, 60)).toBeLessThan(60);
});

it.each([
  ['letters', 'a', 'a'],
  ['line breaks', '\n', '\\x0a'],
  ['quotes', '"', '\\"'],
])('an error about a time of 3 MB of %s is written in linear time', (_name, char, shown) => {
  let message = '';
  const refuse = () => {
    try {
      canonicalTime(char.repeat(3_000_000));
    } catch (error) {
      message = (error as Error).message;
    }
  };
  expect(cpuMsOf(refuse, 200)).toBeLessThan(200);
  expect(message.startsWith(`parsing time "${shown.repeat(quotedCharactersMax)}`)).toBe(true);
  expect(message.length).toBeLessThan(10 * quotedCharactersMax);
});
