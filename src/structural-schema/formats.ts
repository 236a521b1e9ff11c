import { validateDnsLabel, validateDnsSubdomain } from '../machinery/names.js';
import { isCidr, isDay, isDuration, isEmail, isIpv4, isIpv6, isMac, isTime, isUri } from './format-checks.js';
import { isCardNumber, isIsbn10, isIsbn13 } from './format-checksums.js';

type Check = RegExp | ((text: string) => boolean);

/** The formats that are validated. Other formats are ignored, with a warning. */
const formats: Readonly<Record<string, Check>> = {
  datetime: isTime,
  date: isDay,
  duration: isDuration,
  byte: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/,
  ipv4: isIpv4,
  ipv6: isIpv6,
  cidr: isCidr,
  mac: isMac,
  uuid: /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i,
  uuid3: /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i,
  uuid4: /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i,
  uuid5: /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i,
  hostname:
    /^(?=.{1,253}$)[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?)*$/,
  email: isEmail,
  uri: isUri,
  hexcolor: /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/,
  rgbcolor: /^rgb\(\s*(?:1?\d?\d|2[0-4]\d|25[0-5])(?:\s*,\s*(?:1?\d?\d|2[0-4]\d|25[0-5])){2}\s*\)$/,
  ssn: /^\d{3}[- ]\d{2}[- ]\d{4}$/,
  creditcard: isCardNumber,
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  bsonobjectid: /^[0-9a-f]{24}$/i,
  k8sshortname: (text) => validateDnsLabel(text).length === 0,
  k8slongname: (text) => validateDnsSubdomain(text).length === 0,
  password: () => true,
};

/** `date-time` and `datetime` are the same format. */
function checkOf(format: string): Check | undefined {
  const name = format.replaceAll('-', '');
  return Object.hasOwn(formats, name) ? formats[name] : undefined;
}

export function hasFormat(text: string, format: string): boolean {
  const check = checkOf(format);
  if (check === undefined) return true;
  return typeof check === 'function' ? check(text) : check.test(text);
}

export interface Format {
  /** The name of the format in the schema. */
  readonly name: string;
  readonly fits: (text: string) => boolean;
}

/** Returns the check of a format for values of a type; undefined if the format does not apply to the type. */
export function formatOf(type: string, format: string): Format | undefined {
  if (format === '' || !isKnownFormat(type, format)) return undefined;
  return { name: format, fits: (text) => hasFormat(text, format) };
}

/** True if the format applies to the type. A list of types counts as no type. */
export function isKnownFormat(type: string, format: string): boolean {
  if (type === 'integer') return format === 'int32' || format === 'int64';
  if (type === 'number') return format === 'float' || format === 'double';
  return (type === '' || type === 'string' || type.includes(',')) && checkOf(format) !== undefined;
}
