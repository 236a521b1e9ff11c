// An external signer of service account tokens: a gRPC server on a Unix socket, with the official implementation of gRPC.
// usage: node token-signer-process.mjs SOCKET. Reads one JSON document per line: {"set": {…}} changes its behaviour (below),
// {"sign": {"key": NAME, "claims": TEXT}} prints a token. Prints one JSON document per line as the answer.
import { generateKeyPairSync, sign } from 'node:crypto';
import { protobuf, servePlugin } from './plugin-server.mjs';

const field = (type, id, rule) => ({ type, id, ...(rule && { rule }) });
const root = protobuf.Root.fromJSON({
  nested: {
    SignRequest: { fields: { claims: field('string', 1) } },
    SignResponse: { fields: { header: field('string', 1), signature: field('string', 2) } },
    Nothing: { fields: {} },
    Timestamp: { fields: { seconds: field('int64', 1), nanos: field('int32', 2) } },
    Key: { fields: { keyId: field('string', 1), key: field('bytes', 2), isExcluded: field('bool', 3) } },
    FetchKeysResponse: {
      fields: { keys: field('Key', 1, 'repeated'), dataTimestamp: field('Timestamp', 2), refresh: field('int64', 3) },
    },
    MetadataResponse: { fields: { maxSeconds: field('int64', 1) } },
  },
});

const state = {
  Sign: 'ok',
  FetchKeys: 'ok',
  Metadata: 'ok',
  signWith: 'k1',
  keys: [{ id: 'k1' }],
  refresh: 3600,
  hasTimestamp: true,
  maxSeconds: 86_400,
  /** Fields of the header that replace the right ones. */
  header: {},
  /** Replaces the signature. */
  signature: undefined,
  /** Replaces the bytes of all keys, in base64. */
  der: undefined,
};

const pairs = new Map();

function pairOf(name) {
  let pair = pairs.get(name);
  if (!pair) pairs.set(name, (pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })));
  return pair;
}

const segment = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

function signed(name, claims) {
  const header = segment({ alg: 'ES256', kid: name, typ: 'JWT', ...state.header });
  const signature = sign('sha256', Buffer.from(`${header}.${claims}`), {
    key: pairOf(name).privateKey,
    dsaEncoding: 'ieee-p1363',
  }).toString('base64url');
  return { header, signature: state.signature ?? signature };
}

const answers = {
  Sign: ({ claims }) => signed(state.signWith, claims),
  FetchKeys: () => ({
    keys: state.keys.map(({ id, isExcluded = false, kid = id }) => ({
      keyId: kid,
      key: state.der ?? pairOf(id).publicKey.export({ type: 'spki', format: 'der' }),
      isExcluded,
    })),
    ...(state.hasTimestamp && { dataTimestamp: { seconds: Math.floor(Date.now() / 1000) } }),
    refresh: state.refresh,
  }),
  Metadata: () => ({ maxSeconds: state.maxSeconds }),
};

const types = {
  Sign: ['SignRequest', 'SignResponse'],
  FetchKeys: ['Nothing', 'FetchKeysResponse'],
  Metadata: ['Nothing', 'MetadataResponse'],
};

servePlugin({
  socket: process.argv[2],
  service: 'v1.ExternalJWTSigner',
  root,
  types: (name) => types[name],
  state,
  answers,
  obey({ sign: wanted }) {
    if (!wanted) return undefined;
    const { header, signature } = signed(wanted.key, wanted.claims);
    return { token: `${header}.${wanted.claims}.${signature}` };
  },
});
