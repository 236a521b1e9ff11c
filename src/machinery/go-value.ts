import { asFields, isSet } from './fields.js';

/**
 * Describes how error messages print an object: with Go field names, all fields, in Go order, as kube-apiserver does.
 */
export type GoStruct = readonly (readonly [field: string, absent: unknown, inner?: (value: unknown) => unknown])[];

export function goStruct(value: unknown, fields: GoStruct): Record<string, unknown> {
  const object = asFields(value);
  return Object.fromEntries(
    fields.map(([field, absent, inner]) => {
      const found = object[field];
      return [goName(field), isSet(found) ? (inner ? inner(found) : found) : absent];
    }),
  );
}

/**
 * Parses the description of a struct: `name='' tty=false volumes`. An absent field prints as null unless a value is
 * given. Nested structs without a description print the fields that are set.
 */
export function goShape(text: string, inner: Readonly<Record<string, (value: unknown) => unknown>> = {}): GoStruct {
  return text
    .trim()
    .split(/\s+/)
    .map((word) => {
      const [field = '', absent] = word.split('=');
      return [field, absentValue(absent), inner[field] ?? goValue] as const;
    });
}

const absentValue = (text: string | undefined): unknown => {
  if (text === undefined) return null;
  if (text === "''") return '';
  return text === 'false' ? false : Number(text);
};

export const goList =
  (fields: GoStruct) =>
  (value: unknown): unknown =>
    Array.isArray(value) ? value.map((item) => goStruct(item, fields)) : value;

/** Maps print their keys in order. */
export const goMap = (value: unknown): unknown =>
  Object.fromEntries(Object.entries(asFields(value)).sort(([a], [b]) => (a < b ? -1 : 1)));

function goValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(goValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [goName(field), goValue(inner)]));
}

const words: Readonly<Record<string, string>> = {
  cephfs: 'CephFS',
  storageos: 'StorageOS',
  tty: 'TTY',
  os: 'OS',
  setHostnameAsFQDN: 'SetHostnameAsFQDN',
};
const initials = /^(?:api|dns|nfs|rbd|iscsi|fc|csi|gce|aws|fs|se(?=Linux))(?![a-z])/;

/** `apiGroup` → `APIGroup`, `name` → `Name`. */
function goName(field: string): string {
  if (Object.hasOwn(words, field)) return words[field]!;
  const upper = field.replace(initials, (initial) => initial.toUpperCase());
  return upper.slice(0, 1).toUpperCase() + upper.slice(1);
}
