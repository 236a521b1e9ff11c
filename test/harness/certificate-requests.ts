import { createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { derBits, derElement, derId, derOctets, derPositive, derSequence } from '../../src/certificates/der-writer.js';

const ids = { CN: '550403', O: '55040a', extensionRequest: '2a864886f70d01090e', subjectAltName: '551d11' };
export const derTags = { utf8: 0x0c, printable: 0x13, bmp: 0x1e, dns: 0x82, email: 0x81, uri: 0x86, ip: 0x87 };

/** `['O', 'system:nodes']`, or with the tag and the bytes of its value. */
type SubjectPart = readonly ['CN' | 'O', string] | readonly ['CN' | 'O', number, Buffer];

export interface RequestParts {
  readonly subject: readonly SubjectPart[];
  /** Tags and bytes of alternative names. */
  readonly names?: readonly (readonly [tag: number, value: string | Buffer])[];
  /** Other extensions: identifiers in hex and contents. */
  readonly extensions?: readonly (readonly [id: string, value: Buffer])[];
  readonly key?: KeyObject;
  /** Signs instead of the key. */
  readonly signedBy?: KeyObject;
}

export const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

/** A certificate request in DER, also of unusual shapes. */
export function requestDer({ subject, names = [], extensions = [], key = newKey(), signedBy = key }: RequestParts) {
  const wanted = [
    ...(names.length > 0 ? [[ids.subjectAltName, derSequence(...names.map(nameElement))] as const] : []),
    ...extensions,
  ].map(([id, value]) => derSequence(derId(id), derOctets(value)));
  const attribute = derSequence(derId(ids.extensionRequest), derElement(0x31, derSequence(...wanted)));
  const info = derSequence(
    derPositive(Buffer.from([0])),
    derSequence(...subject.map(([id, ...value]) => derElement(0x31, derSequence(derId(ids[id]), textElement(value))))),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    derElement(0xa0, ...(wanted.length > 0 ? [attribute] : [])),
  );
  return derSequence(info, derSequence(derId('2a8648ce3d040302')), derBits(sign('sha256', info, signedBy)));
}

/** The spec.request of a CertificateSigningRequest. */
export function requestText(parts: RequestParts): string {
  const lines = requestDer(parts).toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${lines}\n-----END CERTIFICATE REQUEST-----\n`;
  return Buffer.from(pem).toString('base64');
}

const nameElement = ([tag, value]: readonly [number, string | Buffer]) =>
  derElement(tag, Buffer.isBuffer(value) ? value : Buffer.from(value, 'latin1'));

function textElement(value: readonly [string] | readonly [number, Buffer]): Buffer {
  const [first] = value;
  return typeof first === 'string' ? derElement(derTags.utf8, Buffer.from(first)) : derElement(first, value[1]!);
}
