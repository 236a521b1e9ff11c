// A KMS plug-in (v2): a gRPC server on a Unix socket, with the official implementation of gRPC.
// usage: node kms-plugin-process.mjs SOCKET. Reads one JSON document per line, {"set": {…}}, which changes its behaviour
// (below), and prints one with the calls so far.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { protobuf, servePlugin } from './plugin-server.mjs';

const field = (type, id) => ({ type, id });
const annotations = (id) => ({ keyType: 'string', type: 'bytes', id });
const root = protobuf.Root.fromJSON({
  nested: {
    StatusRequest: { fields: {} },
    StatusResponse: { fields: { version: field('string', 1), healthz: field('string', 2), keyId: field('string', 3) } },
    EncryptRequest: { fields: { plaintext: field('bytes', 1), uid: field('string', 2) } },
    EncryptResponse: {
      fields: { ciphertext: field('bytes', 1), keyId: field('string', 2), annotations: annotations(3) },
    },
    DecryptRequest: {
      fields: {
        ciphertext: field('bytes', 1),
        uid: field('string', 2),
        keyId: field('string', 3),
        annotations: annotations(4),
      },
    },
    DecryptResponse: { fields: { plaintext: field('bytes', 1) } },
  },
});

const state = {
  Status: 'ok',
  Encrypt: 'ok',
  Decrypt: 'ok',
  version: 'v2',
  healthz: 'ok',
  keyId: 'kek-1',
  /** The key id of Encrypt, if it is not that of Status. */
  encryptKeyId: null,
  /** Annotations of Encrypt, in base64. Decrypt refuses others. */
  annotations: { 'kms.example.com': 'djE=' },
  /** Replaces the encrypted key, in base64. */
  ciphertext: null,
  /** Replaces the decrypted key, in base64. */
  plaintext: null,
};

/** Key encryption keys outlive the process. */
const keyOf = (keyId) => createHash('sha256').update(`kek of ${keyId}`).digest();
const annotationsOf = () =>
  Object.fromEntries(Object.entries(state.annotations).map(([name, value]) => [name, Buffer.from(value, 'base64')]));

const answers = {
  Status: () => ({ version: state.version, healthz: state.healthz, keyId: state.keyId }),
  Encrypt({ plaintext }) {
    const keyId = state.encryptKeyId ?? state.keyId;
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', keyOf(keyId), nonce);
    const encrypted = Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
    const ciphertext = state.ciphertext === null ? encrypted : Buffer.from(state.ciphertext, 'base64');
    return { ciphertext, keyId, annotations: annotationsOf() };
  },
  Decrypt({ ciphertext, keyId, annotations: given }) {
    const shown = (some) =>
      JSON.stringify(Object.entries(some).map(([k, v]) => [k, Buffer.from(v).toString('base64')]));
    if (shown(given) !== shown(annotationsOf())) throw new Error('other annotations');
    const decipher = createDecipheriv('aes-256-gcm', keyOf(keyId), ciphertext.subarray(0, 12));
    decipher.setAuthTag(ciphertext.subarray(-16));
    const plaintext = Buffer.concat([decipher.update(ciphertext.subarray(12, -16)), decipher.final()]);
    return { plaintext: state.plaintext === null ? plaintext : Buffer.from(state.plaintext, 'base64') };
  },
};

servePlugin({
  socket: process.argv[2],
  service: 'v2.KeyManagementService',
  root,
  types: (name) => [`${name}Request`, `${name}Response`],
  state,
  answers,
});
