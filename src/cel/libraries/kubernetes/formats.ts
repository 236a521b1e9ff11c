import {
  nameIsDnsLabel,
  nameIsDnsSubdomain,
  validateDns1035Label,
  validateLabelValue,
  validateQualifiedName,
} from '../../../machinery/names.js';
import type { FunctionDeclaration } from '../../check/declarations.js';
import { declare, member, overload } from '../../check/declarations.js';
import { listOf, optionalOf, structType, types } from '../../types.js';
import { daysFromCivil } from '../../values/time.js';
import type { Value } from '../../values/value.js';
import { OpaqueValue, Optional, orNoSuchOverload } from '../../values/value.js';
import type { Library } from '../library.js';
import { parseUrl } from './url-text.js';

/** Named formats: `!format.dns1123Label().validate(self.name).hasValue()`. */
const { string } = types;
const formatType = structType('kubernetes.NamedFormat');

class Format extends OpaqueValue {
  readonly type = formatType;
  constructor(
    readonly name: string,
    /** The size of its regular expression, for costs. */
    readonly regexSize: number,
    readonly problemsOf: (text: string) => readonly string[],
  ) {
    super();
  }
  equals(other: Value): Value {
    return other instanceof Format ? other.name === this.name : orNoSuchOverload(other);
  }
  override toString(): string {
    return this.name;
  }
}

/** A prefix of a name may end with a dash. */
const dns1035Prefix = (text: string): string[] =>
  validateDns1035Label(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text);

const when = (isValid: (text: string) => boolean, problem: string) => (text: string) =>
  isValid(text) ? [] : [problem];

const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const time = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/;

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  return match !== null && daysFromCivil(Number(match[1]), Number(match[2]), Number(match[3])) !== undefined;
}
function isDateTime(text: string): boolean {
  const [date, clock, ...rest] = text.toLowerCase().split('t');
  const match = time.exec(clock ?? '');
  if (rest.length > 0 || !match || !isDate(date!)) return false;
  return Number(match[1]) <= 23 && Number(match[2]) <= 59 && Number(match[3]) <= 59;
}
function uriProblems(text: string): string[] {
  const parsed = parseUrl(text, true);
  return typeof parsed === 'string' ? [parsed] : [];
}

const dateTimePatternSize = 71;
const formats = new Map<string, Format>([
  ['dns1123Label', new Format('DNS1123Label', 30, (text) => nameIsDnsLabel(text, false))],
  ['dns1123Subdomain', new Format('DNS1123Subdomain', 60, (text) => nameIsDnsSubdomain(text, false))],
  ['dns1035Label', new Format('DNS1035Label', 30, validateDns1035Label)],
  ['qualifiedName', new Format('QualifiedName', 60, validateQualifiedName)],
  ['dns1123LabelPrefix', new Format('DNS1123LabelPrefix', 30, (text) => nameIsDnsLabel(text, true))],
  ['dns1123SubdomainPrefix', new Format('DNS1123SubdomainPrefix', 60, (text) => nameIsDnsSubdomain(text, true))],
  ['dns1035LabelPrefix', new Format('DNS1035LabelPrefix', 30, dns1035Prefix)],
  ['labelValue', new Format('LabelValue', 40, validateLabelValue)],
  ['uri', new Format('URI', 1103, uriProblems)],
  [
    'uuid',
    new Format(
      'uuid',
      70,
      when((text) => uuid.test(text), 'does not match the UUID format'),
    ),
  ],
  [
    'byte',
    new Format(
      'byte',
      84,
      when((text) => base64.test(text), 'invalid base64'),
    ),
  ],
  ['date', new Format('date', dateTimePatternSize, when(isDate, 'invalid date'))],
  ['datetime', new Format('datetime', dateTimePatternSize, when(isDateTime, 'invalid datetime'))],
]);

function validate(format: Value | undefined, text: Value | undefined): Value {
  if (!(format instanceof Format)) return orNoSuchOverload(format!);
  if (typeof text !== 'string') return orNoSuchOverload(text!);
  const problems = format.problemsOf(text);
  return problems.length === 0 ? Optional.none : new Optional(problems);
}

function named(name: Value | undefined): Value {
  const format = formats.get(name as string);
  return format ? new Optional(format) : Optional.none;
}

const constants: FunctionDeclaration[] = [...formats].map(([name, format]) =>
  declare(
    `format.${name}`,
    overload(`format.${name}`, [], formatType, () => format),
  ),
);

export const formatLibrary: Library = {
  name: 'kubernetes.format',
  functions: [
    ...constants,
    declare('validate', member('format-validate', [formatType, string], optionalOf(listOf(string)), validate)),
    declare('format.named', overload('format-named', [string], optionalOf(formatType), named)),
  ],
};
