/** Semantic Versioning 2.0.0: `1.2.3-rc.1+build`. */
const number = '(0|[1-9]\\d*)';
const preRelease = '(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)';
const build = '[0-9a-zA-Z-]+';
const pattern = new RegExp(
  `^${number}\\.${number}\\.${number}(?:-(${preRelease}(?:\\.${preRelease})*))?(?:\\+${build}(?:\\.${build})*)?$`,
);

interface Semver {
  /** Digits without leading zeros. Texts, since converting many digits to an integer takes more than linear time. */
  readonly numbers: readonly string[];
  /** Empty for a release, which sorts after its pre-releases. */
  readonly preRelease: readonly string[];
}

export function parseSemver(text: string): Semver | undefined {
  const match = pattern.exec(text);
  if (!match) return undefined;
  const [, major, minor, patch, pre] = match;
  return { numbers: [major!, minor!, patch!], preRelease: pre === undefined ? [] : pre.split('.') };
}

/** Negative if `a` sorts before `b`. Build metadata is ignored. */
export function compareSemver(a: Semver, b: Semver): number {
  for (const [i, value] of a.numbers.entries()) {
    const order = compareDigits(value, b.numbers[i]!);
    if (order !== 0) return order;
  }
  if (a.preRelease.length === 0 || b.preRelease.length === 0) return b.preRelease.length - a.preRelease.length;
  for (const [i, part] of a.preRelease.entries()) {
    const other = b.preRelease[i];
    if (other === undefined) return 1;
    const order = comparePart(part, other);
    if (order !== 0) return order;
  }
  return a.preRelease.length - b.preRelease.length;
}

/** Numbers sort before words. */
function comparePart(a: string, b: string): number {
  const isNumber = (text: string) => /^\d+$/.test(text);
  if (isNumber(a) && isNumber(b)) return compareDigits(a, b);
  if (isNumber(a) !== isNumber(b)) return isNumber(a) ? -1 : 1;
  return compareTexts(a, b);
}

/** Compares numbers without leading zeros: the longer one is greater. */
const compareDigits = (a: string, b: string): number => Math.sign(a.length - b.length) || compareTexts(a, b);
const compareTexts = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
