// A KMS plug-in (v2): a gRPC server on a Unix socket, with the official implementation of gRPC.
// usage: node kms-plugin-process.mjs SOCKET. Reads one JSON document per line, {"set": {…}}, which changes its behaviour
// (below), and prints one with the calls so far.
import { createInterface } from 'node:readline';
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';

const ownRequire = createRequire(import.meta.url);
const protobuf = ownRequire('protobufjs');
// The official gRPC for Node, which is a dependency of etcd3.
const grpc = createRequire(ownRequire.resolve('etcd3'))('@grpc/grpc-js');
const [socket] = process.argv.slice(2);
const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

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

/** Behaviour of each method: ok, hang, error, garbage (bytes that are no message) or huge (10 MB). */
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
const calls = { Status: 0, Encrypt: 0, Decrypt: 0 };

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

const handler = (name) => (call, respond) => {
  calls[name]++;
  switch (state[name]) {
    case 'hang':
      return;
    case 'error':
      return respond({ code: grpc.status.PERMISSION_DENIED, details: 'hsm-password-is-4711' });
    case 'garbage':
      return respond(null, createHash('sha512').update('garbage').digest());
    case 'huge':
      return respond(null, Buffer.alloc(10_000_000, 0x0a));
    default:
      try {
        return respond(null, answers[name](call.request));
      } catch (error) {
        return respond({ code: grpc.status.INVALID_ARGUMENT, details: String(error) });
      }
  }
};

function method(name) {
  const codec = root.lookupType(`${name}Response`);
  return {
    path: `/v2.KeyManagementService/${name}`,
    requestStream: false,
    responseStream: false,
    requestDeserialize: (bytes) => root.lookupType(`${name}Request`).decode(bytes),
    responseSerialize: (value) =>
      Buffer.isBuffer(value) ? value : Buffer.from(codec.encode(codec.fromObject(value)).finish()),
    requestSerialize: () => Buffer.alloc(0),
    responseDeserialize: () => ({}),
  };
}

const server = new grpc.Server();
const names = Object.keys(answers);
server.addService(
  Object.fromEntries(names.map((name) => [name, method(name)])),
  Object.fromEntries(names.map((name) => [name, handler(name)])),
);

createInterface(process.stdin).on('line', (line) => {
  Object.assign(state, JSON.parse(line).set);
  print({ calls });
});
process.stdin.on('end', () => process.exit(0));

server.bindAsync(`unix:${socket}`, grpc.ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
  print({ listening: socket });
});
