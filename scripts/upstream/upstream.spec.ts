import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { alterations } from './altered-objects.js';
import { differences } from './every-kind.js';
import { keelsonWarnings, klogErrors } from './program-logs.js';
import { ensurePrograms } from './programs.js';
import { describeWrites } from './store-writes.js';

describe('differences of two JSON values', () => {
  it.each([
    ['equal values', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
    ['another value', { a: { b: 1 } }, { a: { b: 2 } }, ['.a.b: 1 | 2']],
    ['a missing field', { a: 1 }, {}, ['.a: 1 | undefined']],
    ['null and absent', { a: null }, {}, ['.a: null | undefined']],
    ['a longer list', { a: [1] }, { a: [1, 2] }, ['.a.1: undefined | 2']],
    ['a list instead of an object', { a: [] }, { a: {} }, ['.a: [] | {}']],
  ])('%s', (_, left, right, want) => expect(differences(left, right)).toEqual(want));
});

it('alterations cover every field but names, and do not change the object', () => {
  const object = { kind: 'A', metadata: { name: 'a' }, spec: { on: true, list: [1] } };
  const before = structuredClone(object);
  const found = [...alterations(object)].map(({ change, object: altered }) => [change, differences(object, altered)]);
  expect(object).toEqual(before);
  expect(found).toEqual(
    expect.arrayContaining([
      ['without spec', ['.spec: {"on":true,"list":[1]} | undefined']],
      ['spec.on=false', ['.spec.on: true | false']],
      ['spec.list=twice', ['.spec.list.1: undefined | 1']],
      ['without spec.list.0', ['.spec.list.0: 1 | undefined']],
      ['spec.list.0=-1', ['.spec.list.0: 1 | -1']],
      ['spec=unknown field', ['.spec.unknown: undefined | 1']],
      ['metadata.name=Bad_Name', ['.metadata.name: "a" | "Bad_Name"']],
    ]),
  );
  expect(found.map(([change]) => change)).not.toContain('without metadata.name');
});

it('klog errors are grouped without names and numbers', () => {
  const line = (name: string) => `E1122 12:40:15.149514   24259 controller.go:792] "failed" pod="${name}"`;
  const log = [line('a-7f8d9c6b5-x2x4z'), 'I1122 12:40:15.149514   24259 a.go:1] "fine"', line('a-6c8d9f6b4-y2x4z')];
  expect(klogErrors(log.join('\n'))).toEqual([
    expect.objectContaining({ count: 2, example: 'controller.go:792] "failed" pod="a-7f8d9c6b5-x2x4z"' }),
  ]);
});

it("warnings, errors and stacks of Keelson's log are found, start-up messages are not", () => {
  const log = [
    'Serving https://127.0.0.1:1',
    '  kubeconfig  /d/admin.kubeconfig',
    '  try         kubectl get namespaces',
    '{"level":30,"time":"t","msg":"fine"}',
    '{"level":40,"time":"t","msg":"odd"}',
    'Error: boom',
  ];
  expect(keelsonWarnings(log.join('\n')).map(({ example }) => example)).toEqual([log[4], log[5]]);
});

it('writes are counted by key, most first', () => {
  const write = (key: string, type: 'put' | 'delete' = 'put') => ({ key, type, atMs: 0, manager: 'm' });
  expect(describeWrites([write('/a'), write('/b'), write('/b'), { ...write('/a', 'delete'), manager: '' }])).toEqual([
    '2 × /b (m)',
    '1 × /a (m)',
    '1 × deletion of /a',
  ]);
});

describe('upstream programs', () => {
  it('are undefined if Go is not on PATH', async () => {
    expect(await ensurePrograms('1.0.0', () => undefined, { PATH: '/nowhere' })).toBeUndefined();
  });

  it('an incomplete directory is refused with the names of missing programs', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'upstream-'));
    await expect(ensurePrograms('1.36.3', () => undefined, { KEELSON_UPSTREAM: directory })).rejects.toThrow(
      `${directory}, which has no kube-controller-manager, kube-scheduler, kube-apiserver`,
    );
    rmSync(directory, { recursive: true });
  });
});
