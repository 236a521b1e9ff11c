import { StorageError } from '../../storage-error.js';
import { isTransient, storageErrorOf } from './etcd-errors.js';
import { NotConnectedError } from '../../../grpc/grpc-error.js';

describe('etcd errors', () => {
  it.each([
    [11, 'etcdserver: mvcc: required revision has been compacted', 'compacted', false],
    [11, 'etcdserver: mvcc: required revision is a future revision', 'futureRevision', false],
    [3, 'etcdserver: request is too large', 'tooLarge', false],
    [3, 'etcdserver: too many operations in txn request', 'tooLarge', false],
    [8, 'grpc: received message larger than max (3000058 vs. 2097152)', 'tooLarge', false],
    [8, 'etcdserver: mvcc: database space exceeded', 'full', false],
    [8, 'etcdserver: too many requests', 'unavailable', false],
    [15, 'etcdserver: corrupt cluster', 'corrupt', false],
    [7, 'etcdserver: permission denied', 'unavailable', false],
    [4, 'Deadline exceeded', 'unavailable', true],
    [14, 'etcdserver: leader changed', 'unavailable', true],
    [14, 'etcdserver: no leader', 'unavailable', true],
    [13, 'Received RST_STREAM with code 2', 'unavailable', true],
  ] as const)('%d %s → %s', (code, details, want, transient) => {
    const cause = Object.assign(new Error(`${code}: ${details}`), { code, details });
    const error = storageErrorOf(cause);
    expect([error.code, error.message, error.cause]).toEqual([want, `etcd: ${details}`, cause]);
    expect(isTransient(cause)).toBe(transient);
  });

  it.each([['text'], [undefined], [null], [{}]])('converts %p to unavailable', (cause) => {
    expect(storageErrorOf(cause)).toMatchObject({ name: 'StorageError', code: 'unavailable', cause });
    expect(isTransient(cause)).toBe(false);
  });

  it('returns a StorageError unchanged; NotConnectedError is transient', () => {
    const own = new StorageError('closed', 'closed');
    expect(storageErrorOf(own)).toBe(own);
    expect(isTransient(new NotConnectedError('away'))).toBe(true);
  });
});
