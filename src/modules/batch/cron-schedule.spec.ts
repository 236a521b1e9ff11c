import { cpuMsOf } from '../../../test/harness/cpu-time.js';
import { isTimeZone, scheduleProblem } from './cron-schedule.js';

it.each<[string, string | undefined]>([
  ['* * * * *', undefined],
  ['*/5 0-6 1,15 JAN-mar MON', undefined],
  ['0 0 ? * 5', undefined],
  ['5/15 * * * *', undefined],
  ['@hourly', undefined],
  ['@every 1h30m', undefined],
  ['TZ=Europe/Rome 0 * * * *', undefined],
  ['', 'empty spec string'],
  ['often', 'expected exactly 5 fields, found 1: [often]'],
  ['* * * * * *', 'expected exactly 5 fields, found 6: [* * * * * *]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['*/1/2 * * * *', 'too many slashes: */1/2'],
  ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
  ['* * * * 7', 'end of range (7) above maximum (6): 7'],
  ['@often', 'unrecognized descriptor: @often'],
  ['@every soon', 'failed to parse duration @every soon: time: invalid duration "soon"'],
  ['@every 5', 'failed to parse duration @every 5: time: missing unit in duration "5"'],
  ['@every 5w', 'failed to parse duration @every 5w: time: unknown unit "w" in duration "5w"'],
  ['@every -1.5h.5s', undefined],
  ['CRON_TZ=Mars/Base 0 * * * *', 'provided bad location Mars/Base: unknown time zone Mars/Base'],
])('the schedule %j is validated', (text, want) => expect(scheduleProblem(text)).toBe(want));

it.each([
  ['UTC', true],
  ['Europe/Rome', true],
  ['Mars/Base', false],
  ['../etc', false],
  ['', false],
])('%j is a time zone: %p', (name, want) => expect(isTimeZone(name)).toBe(want));

it.each([
  ['digits', '1'.repeat(3_000_000)],
  ['digits and dots', '1.'.repeat(1_500_000)],
  ['terms', '1h'.repeat(1_500_000)],
])('a duration of 3 MB of %s is refused in linear time', (_, duration) => {
  let problem: string | undefined;
  expect(cpuMsOf(() => (problem = scheduleProblem(`@every ${duration}`)), 300)).toBeLessThan(300);
  expect(problem).toContain('time: invalid duration');
});

it.each([
  ['equal minutes', '1,'.repeat(1_500_000), '', undefined],
  ['many minutes and a wrong one', '1,2,'.repeat(750_000), '60', /^end of range \(60\) above maximum \(59\): 60$/],
])('a schedule of 3 MB of %s is validated in linear time', (_name, minutes, last, want) => {
  let problem: string | undefined;
  expect(cpuMsOf(() => (problem = scheduleProblem(`${minutes}${last || '1'} * * * *`)), 300)).toBeLessThan(300);
  if (want) expect(problem).toMatch(want);
  else expect(problem).toBeUndefined();
});
