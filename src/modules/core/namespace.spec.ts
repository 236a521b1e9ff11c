import { namingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { finalizeSubresource, namespaceStatusSubresource, namespaceStrategy } from './namespace.strategy.js';
import { namespaceTable } from './namespace.table.js';
import { prepared, prepareUpdate, texts, testContext } from '../../../test/harness/strategies.js';

const strategy = namespaceStrategy(namingProfile('kubernetes'));
const namespace = (rest: object = {}, metadata: object = {}): KubeObject => ({
  kind: 'Namespace',
  apiVersion: 'v1',
  metadata: { name: 'shop', ...metadata },
  ...rest,
});

describe('a new namespace', () => {
  it.each([
    [{}, ['kubernetes']],
    [{ spec: { finalizers: ['example.com/own'] } }, ['example.com/own', 'kubernetes']],
    [
      { spec: { finalizers: ['kubernetes', 'example.com/f'] }, status: { phase: 'Terminating' } },
      ['kubernetes', 'example.com/f'],
    ],
  ])('with %j gets the finalizers %j and the phase Active', (fields, finalizers) => {
    expect(prepared(strategy, namespace(fields))).toEqual(
      namespace(
        { spec: { finalizers }, status: { phase: 'Active' } },
        { labels: { 'kubernetes.io/metadata.name': 'shop' } },
      ),
    );
  });

  it('gets the finalizer and the label of the naming profile', () => {
    const svc = namespaceStrategy(namingProfile('svc', { labelDomain: 'example.org' }));
    const created = prepared(svc, namespace());
    expect(created['spec']).toEqual({ finalizers: ['svc'] });
    expect(created.metadata.labels).toEqual({ 'example.org/metadata.name': 'shop' });
  });

  it('with a finalizer without a domain is rejected', () => {
    const invalid = namespace({ spec: { finalizers: ['nodomain'] } });
    expect(texts(strategy.validateCreate!(invalid, testContext))).toEqual([
      'spec.finalizers: Invalid value: "nodomain": name is neither a standard finalizer name nor is it fully qualified',
    ]);
  });
});

describe('an update', () => {
  const old = prepared(strategy, namespace());
  it('leaves finalizers, status and the name label unchanged', () => {
    const update = namespace(
      { spec: { finalizers: [] }, status: { phase: 'Terminating' } },
      { labels: { 'kubernetes.io/metadata.name': 'x' } },
    );
    strategy.default!(update);
    prepareUpdate(strategy, update, old);
    expect(update).toEqual(old);
  });

  it('of the finalize subresource replaces and validates spec.finalizers', () => {
    const finalize = finalizeSubresource(namingProfile('kubernetes'));
    expect(finalize.put(old, namespace({ spec: { finalizers: ['example.com/own'] } }))['spec']).toEqual({
      finalizers: ['example.com/own'],
    });
    expect(finalize.put(old, namespace())['spec']).toEqual({});
    expect(texts(finalize.validate!(namespace({ spec: { finalizers: ['x'] } }), old, testContext))).toHaveLength(1);
  });

  it.each([
    ['Active', undefined, []],
    ['X', undefined, ['status.Phase: Invalid value: "X": may only be \'Active\' if `deletionTimestamp` is empty']],
    [
      'Active',
      '2026-01-01T00:00:00Z',
      ['status.Phase: Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty'],
    ],
  ])('of status to phase %s with deletionTimestamp %s is validated', (phase, deletionTimestamp, want) => {
    const update = namespace({ status: { phase } }, deletionTimestamp === undefined ? {} : { deletionTimestamp });
    expect(texts(namespaceStatusSubresource.validate!(update, old, testContext))).toEqual(want);
  });
});

it('a deleted namespace with finalizers stays, in phase Terminating', () => {
  const deleted = prepared(strategy, namespace());
  expect(strategy.deletion!.holds!(deleted)).toBe(true);
  expect(strategy.deletion!.holds!(namespace({ spec: {} }))).toBe(false);
  strategy.deletion!.prepareForDelete!(deleted, testContext);
  expect(namespaceTable.cells(deleted, { nowMs: 0 })).toEqual(['shop', 'Terminating', '<unknown>']);
});
