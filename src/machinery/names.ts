import { validationErrorsMax } from './error-budget.js';

/**
 * Validators of names, label keys, label values and the like, with the messages of kube-apiserver. Each returns the
 * problems; an empty list means valid. Patterns run in linear time.
 */
const dnsLabelPattern = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const dnsSubdomainPattern = `${dnsLabelPattern}(\\.${dnsLabelPattern})*`;
const dns1035LabelPattern = '[a-z]([-a-z0-9]*[a-z0-9])?';
const qualifiedNamePattern = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelValuePattern = `(${qualifiedNamePattern})?`;

const dnsLabelRegex = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const dns1035LabelRegex = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/;
const qualifiedNameRegex = /^(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

/** Parts of a text that are validated. A text with more parts than errors are reported is too long for any name. */
const partsMax = validationErrorsMax;

/** Splits a name at a separator, and drops the parts after the first thousand. */
export const firstParts = (text: string, separator: string): string[] => text.split(separator, partsMax);

export const dnsLabelLengthMax = 63;
export const dnsSubdomainLengthMax = 253;
const labelValueLengthMax = 63;
export const fieldManagerLengthMax = 128;

/** With `isPrefix` the text is a generateName, to which a suffix will be added. */
export type NameValidator = (name: string, isPrefix?: boolean) => string[];

const tooManyCharacters = (max: number): string => `must be no more than ${max} characters`;
const tooManyBytes = (max: number): string => `must be no more than ${max} bytes`;

function mismatch(message: string, pattern: string, ...examples: string[]): string {
  if (examples.length === 0) return `${message} (regex used for validation is '${pattern}')`;
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return `${message} (e.g. ${shown}regex used for validation is '${pattern}')`;
}

const dnsLabelMismatch = mismatch(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  dnsLabelPattern,
  'my-name',
  '123-abc',
);
const dnsSubdomainMismatch = mismatch(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  dnsSubdomainPattern,
  'example.com',
);
const wildcardSubdomainMismatch = mismatch(
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  `\\*\\.${dnsSubdomainPattern}`,
  '*.example.com',
);
const dns1035LabelMismatch = mismatch(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  dns1035LabelPattern,
  'my-name',
  'abc-123',
);
const qualifiedNameMessage =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const qualifiedNameMismatch = mismatch(qualifiedNameMessage, qualifiedNamePattern, 'MyName', 'my.name', '123-abc');
const labelValueMismatch = mismatch(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  labelValuePattern,
  'MyValue',
  'my_value',
  '12345',
);

/** True for DNS labels separated by dots. Without a pattern or a list of labels, since a text may have millions of dots. */
export function isDnsSubdomain(text: string): boolean {
  let before = dot;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === dot) {
      if (before === dot || before === dash) return false;
    } else if (code === dash) {
      if (before === dot) return false;
    } else if (!isLowerAlphanumeric(code)) return false;
    before = code;
  }
  return before !== dot && before !== dash;
}

const dot = 0x2e;
const dash = 0x2d;
const isLowerAlphanumeric = (code: number): boolean => (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39);

export function validateDnsSubdomain(text: string): string[] {
  const problems: string[] = [];
  if (text.length > dnsSubdomainLengthMax) problems.push(tooManyCharacters(dnsSubdomainLengthMax));
  if (!isDnsSubdomain(text)) problems.push(dnsSubdomainMismatch);
  return problems;
}

export function validateDnsLabel(text: string): string[] {
  const problems: string[] = [];
  if (text.length > dnsLabelLengthMax) problems.push(tooManyCharacters(dnsLabelLengthMax));
  if (!dnsLabelRegex.test(text)) problems.push(isDnsSubdomain(text) ? 'must not contain dots' : dnsLabelMismatch);
  return problems;
}

export function validateDns1035Label(text: string): string[] {
  const problems: string[] = [];
  if (text.length > dnsLabelLengthMax) problems.push(tooManyCharacters(dnsLabelLengthMax));
  if (!dns1035LabelRegex.test(text)) problems.push(dns1035LabelMismatch);
  return problems;
}

export function validateWildcardDnsSubdomain(text: string): string[] {
  const problems: string[] = [];
  if (text.length > dnsSubdomainLengthMax) problems.push(tooManyCharacters(dnsSubdomainLengthMax));
  if (!text.startsWith('*.') || !isDnsSubdomain(text.slice(2))) problems.push(wildcardSubdomainMismatch);
  return problems;
}

/** `name` or `prefix/name`: label keys, annotation keys, finalizers and resource names. */
export function validateQualifiedName(text: string): string[] {
  const slash = text.indexOf('/');
  if (slash !== text.lastIndexOf('/')) {
    return [
      `a valid label key ${qualifiedNameMismatch} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const problems: string[] = [];
  const name = text.slice(slash + 1);
  if (slash === 0) problems.push('prefix part must be non-empty');
  if (slash > 0)
    problems.push(...validateDnsSubdomain(text.slice(0, slash)).map((problem) => `prefix part ${problem}`));
  if (name === '') problems.push('name part must be non-empty');
  else if (Buffer.byteLength(name) > 63) problems.push(`name part ${tooManyBytes(63)}`);
  if (!qualifiedNameRegex.test(name)) problems.push(`name part ${qualifiedNameMismatch}`);
  return problems;
}

export function validateLabelValue(text: string): string[] {
  const problems: string[] = [];
  if (Buffer.byteLength(text) > labelValueLengthMax) problems.push(tooManyBytes(labelValueLengthMax));
  if (text !== '' && !qualifiedNameRegex.test(text)) problems.push(labelValueMismatch);
  return problems;
}

/** A segment of a URL path. */
export function validatePathSegment(text: string): string[] {
  if (text === '.') return ["may not be '.'"];
  if (text === '..') return ["may not be '..'"];
  return validatePathSegmentPrefix(text);
}

function validatePathSegmentPrefix(text: string): string[] {
  const problems: string[] = [];
  if (text.includes('/')) problems.push("may not contain '/'");
  if (text.includes('%')) problems.push("may not contain '%'");
  return problems;
}

/** A generateName may end with a dash, since a suffix follows. */
function masked(name: string, isPrefix: boolean | undefined): string {
  return isPrefix && name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;
}

/** Most kinds. */
export const nameIsDnsSubdomain: NameValidator = (name, isPrefix) => validateDnsSubdomain(masked(name, isPrefix));
/** Namespaces, and names that become a label of a host name. */
export const nameIsDnsLabel: NameValidator = (name, isPrefix) => validateDnsLabel(masked(name, isPrefix));
/** Roles, bindings, and other kinds whose names come from other systems. */
export const nameIsPathSegment: NameValidator = (name, isPrefix) =>
  isPrefix ? validatePathSegmentPrefix(name) : validatePathSegment(name);

/** Names of environment variables: printable ASCII except `=`. */
export function validateRelaxedEnvVarName(text: string): string[] {
  if (text === '') return ['environment variable name must not be empty'];
  return /^[ -<>-~]+$/.test(text)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

const configKeyMismatch = mismatch(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  '[-._a-zA-Z0-9]+',
  'key.name',
  'KEY_NAME',
  'key-name',
);
/** Keys of ConfigMaps and Secrets, which become file names. */
export function validateConfigKey(text: string): string[] {
  const problems: string[] = [];
  if (text.length > dnsSubdomainLengthMax) problems.push(tooManyCharacters(dnsSubdomainLengthMax));
  if (!/^[-._a-zA-Z0-9]+$/.test(text)) problems.push(configKeyMismatch);
  return problems.concat(dotDotProblems(text));
}

function dotDotProblems(text: string): string[] {
  if (text === '.') return ["must not be '.'"];
  if (text === '..') return ["must not be '..'"];
  return text.startsWith('..') ? ["must not start with '..'"] : [];
}

const cIdentifierMismatch = mismatch(
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
  '[A-Za-z_][A-Za-z0-9_]*',
  'my_name',
  'MY_NAME',
  'MyName',
);
export function validateCIdentifier(text: string): string[] {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(text) ? [] : [cIdentifierMismatch];
}

const headerNameMismatch = mismatch(
  "a valid HTTP header must consist of alphanumeric characters or '-'",
  '[-A-Za-z0-9]+',
  'X-Header-Name',
);
export function validateHttpHeaderName(text: string): string[] {
  return /^[-A-Za-z0-9]+$/.test(text) ? [] : [headerNameMismatch];
}

const percentMismatch = mismatch(
  "a valid percent string must be a numeric string followed by an ending '%'",
  '[0-9]+%',
  '1%',
  '93%',
);
export function validatePercent(text: string): string[] {
  return /^[0-9]+%$/.test(text) ? [] : [percentMismatch];
}

export function validatePortNumber(port: number): string[] {
  return port >= 1 && port <= 65535 ? [] : ['must be between 1 and 65535, inclusive'];
}

export function validatePortName(text: string): string[] {
  const problems: string[] = [];
  if (text.length > 15) problems.push(tooManyCharacters(15));
  if (!/^[-a-z0-9]+$/.test(text))
    problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(text)) problems.push('must contain at least one letter (a-z)');
  if (text.includes('--')) problems.push('must not contain consecutive hyphens');
  if (text.startsWith('-') || text.endsWith('-')) problems.push('must not begin or end with a hyphen');
  return problems;
}

/** Names of field managers. */
export function validateFieldManager(text: string): string[] {
  const problems: string[] = [];
  let position = 0;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    const isPrintable = code < 0x7f ? code >= 0x20 : /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character);
    if (!isPrintable) {
      problems.push(
        `invalid character U+${code.toString(16).toUpperCase().padStart(4, '0')} (at position ${position})`,
      );
    }
    position += Buffer.byteLength(character);
  }
  return problems;
}
