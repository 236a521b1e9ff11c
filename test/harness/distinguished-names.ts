import { createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

/** Certificate requests built byte by byte, for names that no library creates. */
export function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const bytes = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}

const hex = (text: string) => Buffer.from(text, 'hex');
const oids = { CN: '550403', O: '55040a', OU: '55040b' };

/** Tags of ASN.1's string types. */
export const stringTags = {
  utf8: 0x0c,
  numeric: 0x12,
  printable: 0x13,
  teletex: 0x14,
  ia5: 0x16,
  visible: 0x1a,
  general: 0x1b,
  universal: 0x1c,
  bmp: 0x1e,
} as const;
export type StringType = keyof typeof stringTags;

/** Encodes a string type: BMPString has two bytes per character, UniversalString four. */
export function derString(type: StringType, text: string): Buffer {
  const codes = [...text].map((char) => char.codePointAt(0)!);
  if (type === 'utf8') return der(stringTags.utf8, Buffer.from(text));
  const width = type === 'bmp' ? 2 : type === 'universal' ? 4 : 1;
  return der(stringTags[type], Buffer.concat(codes.map((code) => hex(code.toString(16).padStart(2 * width, '0')))));
}

export const derAttribute = (type: keyof typeof oids | Buffer, value: Buffer): Buffer =>
  der(0x30, der(0x06, Buffer.isBuffer(type) ? type : hex(oids[type])), value);

/** `O=organization, CN=joe`, each a set of its own. */
export const derName = (organization: Buffer): Buffer =>
  der(0x30, der(0x31, derAttribute('O', organization)), der(0x31, derAttribute('CN', derString('utf8', 'joe'))));

let shared: KeyObject | undefined;

/** A PKCS#10 request for the name, signed by its key. */
export function certificateRequest(name: Buffer): Buffer {
  shared ??= generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const spki = createPublicKey(shared).export({ type: 'spki', format: 'der' });
  const info = der(0x30, hex('020100'), name, spki, der(0xa0));
  const signature = sign('sha256', info, shared);
  return der(0x30, info, der(0x30, hex('06082a8648ce3d040302')), der(0x03, hex('00'), signature));
}

export function pemBlock(bytes: Buffer, type = 'CERTIFICATE REQUEST', headers = ''): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${type}-----\n${headers}${lines.join('\n')}\n-----END ${type}-----\n`;
}
