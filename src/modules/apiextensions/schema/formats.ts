import { isIPv4, isIPv6 } from 'node:net';

/** Formats of texts that are checked; all others are only told to clients. */
const formats: Readonly<Record<string, RegExp | ((text: string) => boolean)>> = {
  datetime: /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/,
  date: (text) => isDay(text),
  // A number always has a unit, so that there is one way to read a text.
  duration: /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)\s*(?:ns|us|µs|μs|ms|s|m|h|d|w)\s*)+)$/,
  byte: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
  ipv4: (text) => isIPv4(text),
  ipv6: (text) => isIPv6(text),
  cidr: (text) => {
    const [address = '', bits = ''] = text.split('/');
    return (
      /^\d{1,3}$/.test(bits) && ((isIPv4(address) && Number(bits) <= 32) || (isIPv6(address) && Number(bits) <= 128))
    );
  },
  mac: /^([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$/,
  uuid: /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i,
  uuid3: /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i,
  uuid4: /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i,
  uuid5: /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i,
  hostname:
    /^(?=.{1,253}$)[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?)*$/,
  email: /^[^@\s]+@[^@\s]+$/,
  uri: /^[A-Za-z][A-Za-z0-9+.-]*:\S*$/,
  hexcolor: /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/,
};

/** Days that there are: the thirtieth of February is none. */
function isDay(text: string): boolean {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

/** Known by name, and not checked. */
const namedFormats = [
  ...['bsonobjectid', 'creditcard', 'isbn', 'isbn10', 'isbn13', 'k8slongname', 'k8sshortname'],
  ...['password', 'rgbcolor', 'ssn'],
];

/** `date-time` and `datetime` are the same format. */
const normalized = (format: string): string => format.replaceAll('-', '');

export interface Format {
  /** As the schema says it. */
  readonly name: string;
  readonly fits: (text: string) => boolean;
}

/** What a format asks of values of a type; undefined where it means nothing for them. */
export function formatOf(type: string, format: string): Format | undefined {
  if (format === '' || !isKnownFormat(type, format) || !['', 'string', 'integer', 'number'].includes(type)) {
    return undefined;
  }
  return { name: format, fits: (text) => hasFormat(text, format) };
}

export function hasFormat(text: string, format: string): boolean {
  const name = normalized(format);
  const known = Object.hasOwn(formats, name) ? formats[name] : undefined;
  if (known === undefined) return true;
  return typeof known === 'function' ? known(text) : known.test(text);
}

/** Whether a format means something for values of a type. */
export function isKnownFormat(type: string, format: string): boolean {
  if (type === 'integer') return format === 'int32' || format === 'int64';
  if (type === 'number') return format === 'float' || format === 'double';
  const name = normalized(format);
  return (type !== '' && type !== 'string') || Object.hasOwn(formats, name) || namedFormats.includes(name);
}
