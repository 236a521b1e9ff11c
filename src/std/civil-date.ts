export const isLeapYear = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

const daysInMonths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Returns the number of days of a month from 1 to 12; undefined for another one. */
export function daysOfMonth(year: number, month: number): number | undefined {
  return month === 2 && isLeapYear(year) ? 29 : daysInMonths[month - 1];
}
