import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import protobuf from 'protobufjs';
import { KmsProvider } from '../../src/encryption/kms/kms-provider.js';
import { EncryptionMetrics } from '../../src/metrics/encryption-metrics.js';
import { ManualClock, systemClock, type Clock } from '../../src/std/clock.js';
import { silentLogger } from '../../src/std/logger.js';
import { systemRng } from '../../src/std/rng.js';
import type { TransformedValue } from '../../src/storage/value-transforms.js';
import { eventually } from '../harness/eventually.js';
import { KmsPluginProcess, unwrapped, type KmsPluginState } from '../harness/kms-plugin.js';

/** The stored message of kube-apiserver, decoded by another library. */
const EncryptedObject = protobuf.Root.fromJSON({
  nested: {
    EncryptedObject: {
      fields: {
        encryptedData: { type: 'bytes', id: 1 },
        keyID: { type: 'string', id: 2 },
        encryptedDEKSource: { type: 'bytes', id: 3 },
        annotations: { keyType: 'string', type: 'bytes', id: 4 } as protobuf.IMapField,
        encryptedDEKSourceType: { type: 'int32', id: 5 },
      },
    },
  },
}).lookupType('EncryptedObject');

const key = '/registry/secrets/default/a';
const plain = Buffer.from('k8s\0 an object');
let plugin: KmsPluginProcess;
let providers: KmsProvider[];
let recovered: number;

beforeAll(async () => {
  plugin = new KmsPluginProcess();
  await plugin.start();
});
afterAll(() => plugin.stop());
beforeEach(() => {
  providers = [];
  recovered = 0;
});
afterEach(async () => {
  for (const provider of providers) provider.close();
  await plugin.set(ok);
});

const ok: Partial<KmsPluginState> = {
  ...{ Status: 'ok', Encrypt: 'ok', Decrypt: 'ok', version: 'v2', healthz: 'ok', keyId: 'kek-1', encryptKeyId: null },
  ...{ annotations: { 'kms.example.com': 'djE=' }, ciphertext: null, plaintext: null },
};

function open(clock: Clock = systemClock, timeoutMs = 2_000): KmsProvider {
  const provider = new KmsProvider({
    kms: { name: 'plugin', socketPath: plugin.socket, timeoutMs },
    clock,
    rng: systemRng,
    logger: silentLogger,
    observer: new EncryptionMetrics(clock).observerOf('plugin'),
    onRecovered: () => void recovered++,
  });
  providers.push(provider);
  return provider;
}

async function started(clock?: Clock): Promise<KmsProvider> {
  const provider = open(clock);
  await provider.start();
  return provider;
}

const opened = ({ value, isStale, failure }: TransformedValue) => failure?.message ?? [value.toString(), isStale];

it('writes what kube-apiserver reads: a seed of the plug-in, and a key derived for each value', async () => {
  const provider = await started();
  const stored = provider.toStorage(plain, key);
  const object = EncryptedObject.toObject(EncryptedObject.decode(stored), { bytes: Buffer }) as {
    encryptedData: Buffer;
    keyID: string;
    encryptedDEKSource: Buffer;
    annotations: Record<string, Buffer>;
    encryptedDEKSourceType: number;
  };
  expect([object.keyID, object.encryptedDEKSourceType]).toEqual(['kek-1', 1]);
  expect(Object.entries(object.annotations).map(([name, value]) => [name, value.toString()])).toEqual([
    ['kms.example.com', 'v1'],
  ]);
  const seed = unwrapped(object.encryptedDEKSource, 'kek-1');
  const data = object.encryptedData;
  const dataKey = createHmac('sha256', seed)
    .update(data.subarray(0, 32))
    .update(Buffer.from([1]))
    .digest();
  const decipher = createDecipheriv('aes-256-gcm', dataKey, data.subarray(32, 44));
  decipher.setAAD(Buffer.from(key));
  decipher.setAuthTag(data.subarray(-16));
  expect(Buffer.concat([decipher.update(data.subarray(44, -16)), decipher.final()])).toEqual(plain);
  expect(provider.toStorage(plain, key)).not.toEqual(stored);
});

it('reads values of another server with one call for each seed', async () => {
  const values = (await started()).toStorage(plain, key);
  const other = await started();
  const before = (await plugin.calls()).Decrypt;
  const reads = await Promise.all(Array.from({ length: 50 }, async () => other.fromStorage(values, key)));
  expect(new Set(reads.map((read) => JSON.stringify(opened(read))))).toEqual(
    new Set([JSON.stringify([plain.toString(), false])]),
  );
  expect(other.fromStorage(values, key)).not.toBeInstanceOf(Promise);
  expect((await plugin.calls()).Decrypt).toBe(before + 1);
});

it('reads values with a key of their own, of earlier releases, as stale', async () => {
  const provider = await started();
  const { encryptedDEKSource } = EncryptedObject.toObject(EncryptedObject.decode(provider.toStorage(plain, key)), {
    bytes: Buffer,
  }) as { encryptedDEKSource: Buffer };
  // The seed has the length of a key: the same encrypted bytes can stand for either.
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', unwrapped(encryptedDEKSource, 'kek-1'), nonce);
  cipher.setAAD(Buffer.from(key));
  const encryptedData = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  const annotations = { 'kms.example.com': Buffer.from('v1') };
  const stored = Buffer.from(
    EncryptedObject.encode({ encryptedData, keyID: 'kek-1', encryptedDEKSource, annotations }).finish(),
  );
  expect(opened(await provider.fromStorage(stored, key))).toEqual([plain.toString(), true]);
});

it('makes a new seed when the key id changes, and keeps reading the old one', async () => {
  const clock = new ManualClock();
  const provider = await started(clock);
  const before = provider.toStorage(plain, key);
  await plugin.set({ keyId: 'kek-2' });
  clock.advance(60_000);
  await eventually('the key is changed', async () => opened(await provider.fromStorage(before, key))[1] === true);
  const after = provider.toStorage(plain, key);
  expect(EncryptedObject.decode(after)).toMatchObject({ keyID: 'kek-2' });
  expect(opened(await provider.fromStorage(after, key))).toEqual([plain.toString(), false]);
  expect(opened(await (await started()).fromStorage(before, key))).toEqual([plain.toString(), true]);
});

it('writes for three minutes after the last good status, and again after the next one', async () => {
  const clock = new ManualClock();
  const provider = await started(clock);
  await plugin.set({ healthz: 'hsm-password-is-4711' });
  const failing = () => provider.check().then(String, (error: Error) => error.message);
  clock.advance(60_000);
  await eventually('the status is bad', async () => (await failing()).includes('unexpected healthz status'));
  expect(await failing()).not.toContain('4711');
  // A bad status with the same key id extends the life of the seed, as in kube-apiserver; an unusable key id does not.
  await plugin.set({ healthz: 'ok', keyId: '' });
  for (let ms = 0; ms <= 180_000; ms += 10_000) {
    clock.advance(10_000);
    await failing();
  }
  expect(() => provider.toStorage(plain, key)).toThrow(
    /encryptedDEKSource with keyID hash "sha256:[0-9a-f]{64}" has expired/,
  );
  await plugin.set({ keyId: 'kek-1' });
  clock.advance(10_000);
  await eventually('writes go on', () => {
    try {
      return provider.toStorage(plain, key).length > 0;
    } catch {
      return false;
    }
  });
  expect(recovered).toBeGreaterThan(0);
});

describe('a plug-in is not healthy and gets no value', () => {
  const dns = Object.fromEntries(['a b', 'nodots'].map((name) => [name, 'djE=']));
  it.each<[string, Partial<KmsPluginState>, RegExp]>([
    ['that answers Status with an error', { Status: 'error' }, /rpc error: code = PermissionDenied$/],
    ['that answers Status with garbage', { Status: 'garbage' }, /rpc error: code = Internal$/],
    ['that answers Status with 10 MB', { Status: 'huge' }, /rpc error: code = ResourceExhausted$/],
    ['that hangs', { Status: 'hang' }, /rpc error: code = DeadlineExceeded$/],
    ['of another version', { version: 'v3' }, /expected KMSv2 API version v2/],
    ['without key id', { keyId: '' }, /got invalid KMSv2 KeyID: keyID is empty/],
    ['with a long key id', { keyId: 'k'.repeat(1025) }, /keyID is 1025 bytes, which exceeds the max size of 1024/],
    ['that answers Encrypt with an error', { Encrypt: 'error' }, /rpc error: code = PermissionDenied$/],
    ['that answers Encrypt with garbage', { Encrypt: 'garbage' }, /rpc error: code = Internal$/],
    ['that hangs in Encrypt', { Encrypt: 'hang' }, /rpc error: code = DeadlineExceeded$/],
    ['that encrypts with another key', { encryptKeyId: 'kek-9' }, /the key ids of Status and Encrypt differ/],
    ['with an empty ciphertext', { ciphertext: '' }, /encrypted DEK source is empty/],
    ['with a long ciphertext', { ciphertext: Buffer.alloc(1025).toString('base64') }, /is 1025 bytes, which exceeds/],
    ['with annotations that are no domain names', { annotations: dns }, /failed to validate annotations/],
    ['with long annotations', { annotations: { 'a.b': Buffer.alloc(33_000).toString('base64') } }, /size of annotations is 33003/], // prettier-ignore
  ])('%s', async (_title, state, message) => {
    await plugin.set(state);
    const provider = open(systemClock, 500);
    await provider.start();
    const failure = await provider.check().then(String, (error: Error) => error.message);
    expect(failure).toMatch(message);
    expect(failure).not.toContain('4711');
    expect(() => provider.toStorage(plain, key)).toThrow('KMS plug-in plugin has not provided a key yet');
  });
});

describe('a value is not read', () => {
  it.each<[string, Partial<KmsPluginState>, RegExp]>([
    [
      'if the plug-in refuses it',
      { Decrypt: 'error' },
      /^failed to decrypt DEK, error: rpc error: code = PermissionDenied$/,
    ],
    ['if the plug-in hangs', { Decrypt: 'hang' }, /code = DeadlineExceeded$/],
    ['if the plug-in answers garbage', { Decrypt: 'garbage' }, /code = Internal$/],
    ['if the plug-in answers 10 MB', { Decrypt: 'huge' }, /code = ResourceExhausted$/],
    ['if the plug-in returns a short seed', { plaintext: 'AAAA' }, /invalid seed length 3 used for key generation$/],
    ['if the plug-in returns another seed', { plaintext: Buffer.alloc(32).toString('base64') }, /^cipher: message authentication failed$/], // prettier-ignore
  ])('%s', async (_title, state, message) => {
    const stored = (await started()).toStorage(plain, key);
    const provider = open(systemClock, 500);
    await provider.start();
    await plugin.set(state);
    expect(opened(await provider.fromStorage(stored, key))).toMatch(message);
    await plugin.set(ok);
  });

  it.each([
    ['of no message', 'k8s', /./],
    ['that is empty', '', /^encrypted data is empty$/],
    ['cut off', undefined, /./],
  ])('if it is a value %s', async (_title, text, message) => {
    const provider = await started();
    const stored = text === undefined ? provider.toStorage(plain, key).subarray(0, -7) : Buffer.from(text);
    expect(opened(await provider.fromStorage(stored, key))).toMatch(message);
  });

  it('under another key of the store', async () => {
    const provider = await started();
    const read = await provider.fromStorage(provider.toStorage(plain, key), `${key}b`);
    expect(opened(read)).toBe('cipher: message authentication failed');
  });
});

it('one call that hangs is waited for; further values fail at once until the plug-in answers', async () => {
  const stored = (await started()).toStorage(plain, key);
  await plugin.set({ keyId: 'kek-2' });
  const others = (await started()).toStorage(plain, key);
  const clock = new ManualClock();
  const provider = await started(clock);
  await plugin.set({ Decrypt: 'hang' });
  const hanging = Promise.resolve(provider.fromStorage(stored, key)).then(opened);
  await eventually('it waits for the plug-in', () => clock.pendingTimers > 1);
  await eventually('it fails', async () => {
    clock.advance(500);
    return (await Promise.race([hanging, Promise.resolve('')])) !== '';
  });
  const calls = (await plugin.calls()).Decrypt;
  expect(opened(await provider.fromStorage(others, key))).toMatch(/DeadlineExceeded/);
  expect((await plugin.calls()).Decrypt).toBe(calls);
  await plugin.set({ Decrypt: 'ok' });
  recovered = 0;
  clock.advance(10_000);
  await eventually('it asks again', () => recovered > 0);
  expect(opened(await provider.fromStorage(others, key))).toEqual([plain.toString(), false]);
  expect(opened(await provider.fromStorage(stored, key))).toEqual([plain.toString(), true]);
});
