import { asFields, isSet } from './fields.js';

/**
 * Objects as messages about them show them: under the names of the fields in Go, all of them, in their order. Clients
 * compare such messages with those of other servers.
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
 * A struct of many fields, in short: `name='' tty=false volumes`, where null stands for what is absent unless it says
 * something else. Inner structs without a description of their own show what there is.
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

/** Maps keep their keys, in order. */
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
