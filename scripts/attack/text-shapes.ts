/** A kind of long text: `unit` is repeated between `head` and `tail`. */
export interface TextShape {
  readonly name: string;
  readonly head?: string;
  readonly unit: string;
  readonly tail?: string;
}

const pemLine = `${'QUJD'.repeat(16)}\n`;

/** Repeated characters: separators that a parser splits at, and characters that an error message escapes. */
const repeated: readonly TextShape[] = [
  ['letters', 'a'],
  ['digits', '1'],
  ['slashes', '/'],
  ['dots', '.'],
  ['commas', ','],
  ['colons', ':'],
  ['dashes', '-'],
  ['percents', '%'],
  ['spaces', ' '],
  ['line breaks', '\n'],
  ['quotes', '"'],
  ['backslashes', '\\'],
  ['control characters', '\u0001'],
  ['no-break spaces', '\u00a0'],
  ['emoji', '\u{1f600}'],
  ['private characters', '\u{f0000}'],
  ['lone surrogates', '\ud800'],
  ['opening brackets', '('],
].map(([name, unit]) => ({ name: name!, unit: unit! }));

/** Texts that are valid up to their end or their length. */
const almostValid: readonly TextShape[] = [
  { name: 'a domain', unit: 'example.', tail: 'com' },
  { name: 'a domain with a name', unit: 'example.', tail: 'com/name' },
  { name: 'a domain that ends badly', unit: 'example.', tail: 'com-' },
  { name: 'a path', unit: '/a' },
  { name: 'a path upwards', unit: '../' },
  { name: 'a URL', head: 'https://example.com/', unit: '%41' },
  { name: 'a sysctl', unit: 'a.b/', tail: 'c' },
  { name: 'a semver', head: '1.0.0-', unit: 'a.1.', tail: 'b' },
  { name: 'version numbers', unit: '1.', tail: '0' },
  { name: 'an IPv4 address', unit: '10.0.0.1.', tail: '1' },
  { name: 'an IPv6 address', unit: 'fd00:', tail: ':1' },
  { name: 'a CIDR list', unit: '10.0.0.0/8,', tail: '10.0.0.0/8' },
  { name: 'a CIDR prefix', head: '10.0.0.0/', unit: '0', tail: '8' },
  { name: 'a cron schedule', unit: '1,', tail: '2 * * * *' },
  { name: 'a cron step', head: '*/', unit: '0', tail: '5 * * * *' },
  { name: 'a quantity', unit: '9', tail: 'Ki' },
  { name: 'a quantity with an exponent', head: '1e', unit: '9' },
  { name: 'a quantity with a fraction', head: '0.', unit: '0', tail: '1' },
  { name: 'a time', head: '2026-01-01T00:00:00.', unit: '1', tail: 'Z' },
  { name: 'a duration', unit: '1h1m' },
  { name: 'a percentage', unit: '9', tail: '%' },
  { name: 'a label in a fieldPath', head: `metadata.labels['`, unit: 'a', tail: `']` },
  { name: 'brackets in a fieldPath', head: 'metadata.annotations', unit: `['a']` },
  { name: 'a fieldPath', head: 'metadata', unit: '.a' },
  { name: 'a JSONPath', unit: '.a[0]' },
  { name: 'a JSONPath in braces', unit: '{.a}' },
  { name: 'a selector', unit: 'a=b,', tail: 'c' },
  { name: 'an image', unit: 'a/', tail: 'b:latest' },
  { name: 'references to variables', unit: '$(A)' },
  { name: 'an expression', unit: '1+', tail: '1 == 2' },
  { name: 'a pattern', unit: '(a*)*', tail: '$' },
  { name: 'base64', unit: 'QUJD' },
  {
    name: 'a PEM block',
    head: '-----BEGIN CERTIFICATE-----\n',
    unit: pemLine,
    tail: '-----END CERTIFICATE-----\n',
  },
  { name: 'heads of PEM blocks', unit: '-----BEGIN CERTIFICATE-----\n' },
];

export const textShapes: readonly TextShape[] = [...repeated, ...almostValid];

/** The shapes that are almost valid in fields with these names. */
const usual: readonly (readonly [field: RegExp, shape: string])[] = [
  [/fieldPath$/, 'brackets in a fieldPath'],
  [/schedule$/, 'a cron schedule'],
  [/timeZone$/, 'a path'],
  [/sysctls\[\]\.name$/, 'a sysctl'],
  [/pool\.name$/, 'a path'],
  [/(Time|Timestamp|timeAdded)$/, 'a time'],
  [/(limits|requests|capacity|hard|allocatable|overhead\.podFixed|divisor).*\{\}$/, 'a quantity with an exponent'],
  [/(cidr|CIDR|Ranges).*$/, 'a CIDR list'],
  [/(\.ip|IPs?(\[\])?)$/, 'an IPv6 address'],
  [/image$/, 'an image'],
  [/(caBundle|request|certificate)$/, 'a PEM block'],
  [/(xpression|\.rule)$/, 'an expression'],
  [/jsonPath$/, 'a JSONPath'],
  [/pattern$/, 'a pattern'],
  [/(mountPath|\.path|subPath)$/, 'a path upwards'],
  [/(rl|externalName)$/, 'a URL'],
  [/(maxSurge|maxUnavailable|minAvailable|port|targetPort)$/, 'a percentage'],
  [/\{key\}$/, 'a domain with a name'],
  [/(name|driver|provisioner|host|hostnames\[\])$/, 'a domain'],
];

/** Returns the shape that is almost valid in a field. */
export function usualShape(title: string): TextShape | undefined {
  const name = usual.find(([field]) => field.test(title))?.[1];
  return textShapes.find((shape) => shape.name === name);
}

const sizeInJson = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2;

/** Returns the longest text of the shape that takes at most `bytes` in JSON. */
export function longText({ head = '', unit, tail = '' }: TextShape, bytes: number): string {
  const room = bytes - sizeInJson(head) - sizeInJson(tail);
  return head + unit.repeat(Math.max(1, Math.floor(room / sizeInJson(unit)))) + tail;
}
