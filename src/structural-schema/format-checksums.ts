/** Checksum digits of ISBNs and credit card numbers. */
const digitsOf = (text: string): number[] => [...text].map((digit) => (digit === 'X' ? 10 : Number(digit)));

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

const withoutGaps = (text: string): string => text.replace(/[\s-]+/g, '');

export function isIsbn10(text: string): boolean {
  const number = withoutGaps(text);
  if (!/^\d{9}[\dX]$/.test(number)) return false;
  return sum(digitsOf(number).map((digit, index) => digit * (index + 1))) % 11 === 0;
}

export function isIsbn13(text: string): boolean {
  const number = withoutGaps(text);
  if (!/^\d{13}$/.test(number)) return false;
  return sum(digitsOf(number).map((digit, index) => (index % 2 === 0 ? digit : digit * 3))) % 10 === 0;
}

/** Number ranges of card issuers, by first digits and length. */
const cardNumbers = [
  /^4\d{12}(?:\d{3})?$/,
  /^5[1-5]\d{14}$/,
  /^6(?:011|5\d\d)\d{12}$/,
  /^3[47]\d{13}$/,
  /^3(?:0[0-5]|[68]\d)\d{11}$/,
  /^(?:2131|1800|35\d{3})\d{11}$/,
];

export function isCardNumber(text: string): boolean {
  const number = text.replace(/\D+/g, '');
  if (!cardNumbers.some((range) => range.test(number))) return false;
  const doubled = digitsOf(number)
    .reverse()
    .map((digit, index) => (index % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2));
  return sum(doubled) % 10 === 0;
}
