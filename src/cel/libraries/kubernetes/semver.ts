import type { Implementation } from '../../check/declarations.js';
import { declare, member, overload } from '../../check/declarations.js';
import { structType, types } from '../../types.js';
import { int, uint64Max, wholeNumber } from '../../values/numbers.js';
import { quote } from '../../values/texts.js';
import type { Value } from '../../values/value.js';
import { CelError, OpaqueValue, orNoSuchOverload } from '../../values/value.js';
import { spend, spendOnText } from '../../work.js';
import type { Library } from '../library.js';

/** semver('1.2.3-rc.1') and comparisons of versions. */
const { bool, string } = types;
const semverType = structType('kubernetes.Semver');

interface Version {
  readonly numbers: readonly bigint[];
  readonly preRelease: readonly string[];
  readonly build: readonly string[];
}

class Semver extends OpaqueValue {
  readonly type = semverType;
  constructor(readonly version: Version) {
    super();
  }
  equals(other: Value): Value {
    return other instanceof Semver ? compare(this.version, other.version) === 0 : orNoSuchOverload(other);
  }
  override toString(): string {
    const { numbers, preRelease, build } = this.version;
    const pre = preRelease.length > 0 ? `-${preRelease.join('.')}` : '';
    return `${numbers.join('.')}${pre}${build.length > 0 ? `+${build.join('.')}` : ''}`;
  }
}

function number(text: string, name: string): bigint | CelError {
  if (!/^[0-9]*$/.test(text)) return new CelError(`Invalid character(s) found in ${name} number ${quote(text)}`);
  const title = name[0]!.toUpperCase() + name.slice(1);
  if (/^0./.test(text)) return new CelError(`${title} number must not contain leading zeroes ${quote(text)}`);
  return uint64(text);
}
function uint64(text: string): bigint | CelError {
  if (text === '') return new CelError('strconv.ParseUint: parsing "": invalid syntax');
  const value = wholeNumber(text);
  return value === undefined || value > uint64Max
    ? new CelError(`strconv.ParseUint: parsing ${quote(text)}: value out of range`)
    : value;
}

function parseVersion(text: string): Version | CelError {
  if (text === '') return new CelError('Version string empty');
  const parts = text.split('.');
  if (parts.length < 3) return new CelError('No Major.Minor.Patch elements found');
  const [beforeBuild, buildText] = cut(parts.slice(2).join('.'), '+');
  const [patch, preReleaseText] = cut(beforeBuild, '-');
  const numbers: bigint[] = [];
  for (const [digits, name] of [
    [parts[0]!, 'major'],
    [parts[1]!, 'minor'],
    [patch, 'patch'],
  ] as const) {
    const value = number(digits, name);
    if (value instanceof CelError) return value;
    numbers.push(value);
  }
  const preRelease = preReleaseText?.split('.') ?? [];
  const build = buildText?.split('.') ?? [];
  return (
    firstProblem(preRelease, preReleaseProblem) ?? firstProblem(build, buildProblem) ?? { numbers, preRelease, build }
  );
}

function firstProblem(
  parts: readonly string[],
  problemOf: (part: string) => CelError | undefined,
): CelError | undefined {
  for (const part of parts) {
    const problem = problemOf(part);
    if (problem) return problem;
  }
  return undefined;
}

function preReleaseProblem(part: string): CelError | undefined {
  if (part === '') return new CelError('Prerelease is empty');
  if (!/^[0-9]+$/.test(part)) {
    if (/^[0-9A-Za-z-]+$/.test(part)) return undefined;
    return new CelError(`Invalid character(s) found in prerelease ${quote(part)}`);
  }
  if (/^0./.test(part))
    return new CelError(`Numeric PreRelease version must not contain leading zeroes ${quote(part)}`);
  const value = uint64(part);
  return value instanceof CelError ? value : undefined;
}

function buildProblem(part: string): CelError | undefined {
  if (part === '') return new CelError('Build meta data is empty');
  if (/^[0-9A-Za-z-]+$/.test(part)) return undefined;
  return new CelError(`Invalid character(s) found in build meta data ${quote(part)}`);
}

function cut(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function compare(a: Version, b: Version): number {
  for (const [index, value] of a.numbers.entries())
    if (value !== b.numbers[index]!) return value < b.numbers[index]! ? -1 : 1;
  if (a.preRelease.length === 0 || b.preRelease.length === 0)
    return Math.sign(b.preRelease.length - a.preRelease.length);
  for (const [index, part] of a.preRelease.entries()) {
    const other = b.preRelease[index];
    if (other === undefined) return 1;
    const order = comparePart(part, other);
    if (order !== 0) return order;
  }
  return a.preRelease.length === b.preRelease.length ? 0 : -1;
}
/** Numbers come before words. */
function comparePart(a: string, b: string): number {
  const [isNumber, isOther] = [/^[0-9]+$/.test(a), /^[0-9]+$/.test(b)];
  if (isNumber !== isOther) return isNumber ? -1 : 1;
  if (a === b) return 0;
  return (isNumber ? BigInt(a) < BigInt(b) : a < b) ? -1 : 1;
}

/** `v01.2` as the version that it means: 1.2.0. */
function normalized(text: string): string | CelError {
  const body = text.startsWith('v') ? text.slice(1) : text;
  const all = body.split('.');
  const parts = all.length > 3 ? [...all.slice(0, 2), all.slice(2).join('.')] : all;
  const short = parts.map((part) => {
    if (part.length < 2) return part;
    const rest = part.replace(/^0+/, '');
    return /^[0-9]/.test(rest) ? rest : `0${rest}`;
  });
  if (short.length < 3) {
    if (/[+-]/.test(short.at(-1)!)) return new CelError('short version cannot contain PreRelease/Build meta data');
    while (short.length < 3) short.push('0');
  }
  return short.join('.');
}

function parse(text: string, normalizes: boolean): Semver | CelError {
  spend(100);
  spendOnText(text, 2);
  const written = normalizes ? normalized(text) : text;
  if (written instanceof CelError) return written;
  const version = parseVersion(written);
  return version instanceof CelError ? version : new Semver(version);
}

const ofText =
  (read: (text: string, normalizes: boolean) => Value): Implementation =>
  (text, normalizes) =>
    typeof text === 'string' ? read(text, normalizes === true) : orNoSuchOverload(text);
const isSemver = (text: string, normalizes: boolean): Value => !(parse(text, normalizes) instanceof CelError);
const ofTwo =
  (read: (order: number) => Value): Implementation =>
  (left, right) =>
    left instanceof Semver && right instanceof Semver
      ? read(compare(left.version, right.version))
      : orNoSuchOverload(left);
const part = (name: string, index: number) =>
  declare(
    name,
    member(`semver_${name}`, [semverType], types.int, (value) =>
      value instanceof Semver ? int(BigInt.asIntN(64, value.version.numbers[index]!)) : orNoSuchOverload(value),
    ),
  );
const two = [semverType, semverType];

export const semverLibrary: Library = {
  name: 'kubernetes.Semver',
  functions: [
    declare(
      'semver',
      overload('string_to_semver', [string], semverType, ofText(parse)),
      overload('string_bool_to_semver', [string, bool], semverType, ofText(parse)),
    ),
    declare(
      'isSemver',
      overload('is_semver_string', [string], bool, ofText(isSemver)),
      overload('is_semver_string_bool', [string, bool], bool, ofText(isSemver)),
    ),
    declare(
      'isGreaterThan',
      member(
        'semver_is_greater_than',
        two,
        bool,
        ofTwo((order) => order > 0),
      ),
    ),
    declare(
      'isLessThan',
      member(
        'semver_is_less_than',
        two,
        bool,
        ofTwo((order) => order < 0),
      ),
    ),
    declare(
      'compareTo',
      member(
        'semver_compare_to',
        two,
        types.int,
        ofTwo((order) => order),
      ),
    ),
    part('major', 0),
    part('minor', 1),
    part('patch', 2),
  ],
};
