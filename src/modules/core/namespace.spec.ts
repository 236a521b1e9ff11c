import { namingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import { finalizeSubresource, namespaceStatusSubresource, namespaceStrategy } from './namespace.strategy.js';
import { namespaceTable } from './namespace.table.js';
import { prepared, texts, testContext } from '../../../test/harness/strategies.js';

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
  ])('%j is held by %j and active', (given, finalizers) => {
    expect(prepared(strategy, namespace(given))).toEqual(
      namespace(
        { spec: { finalizers }, status: { phase: 'Active' } },
        { labels: { 'kubernetes.io/metadata.name': 'shop' } },
      ),
    );
  });

  it('says so in the words of its profile', () => {
    const svc = namespaceStrategy(namingProfile('svc', { labelDomain: 'example.org' }));
    const made = prepared(svc, namespace());
    expect(made['spec']).toEqual({ finalizers: ['svc'] });
    expect(made.metadata.labels).toEqual({ 'example.org/metadata.name': 'shop' });
  });

  it('has finalizers with a domain', () => {
    const given = namespace({ spec: { finalizers: ['nodomain'] } });
    expect(texts(strategy.validateCreate!(given, testContext))).toEqual([
      'spec.finalizers: Invalid value: "nodomain": name is neither a standard finalizer name nor is it fully qualified',
    ]);
  });
});

describe('an update', () => {
  const old = prepared(strategy, namespace());
  it('changes neither finalizers, status nor the name label', () => {
    const change = namespace(
      { spec: { finalizers: [] }, status: { phase: 'Terminating' } },
      { labels: { 'kubernetes.io/metadata.name': 'x' } },
    );
    strategy.default!(change);
    strategy.prepareForUpdate!(change, old, testContext);
    expect(change).toEqual(old);
  });

  it('changes finalizers through finalize', () => {
    const lens = finalizeSubresource(namingProfile('kubernetes'));
    expect(lens.put(old, namespace({ spec: { finalizers: ['example.com/own'] } }))['spec']).toEqual({
      finalizers: ['example.com/own'],
    });
    expect(lens.put(old, namespace())['spec']).toEqual({});
    expect(texts(lens.validate!(namespace({ spec: { finalizers: ['x'] } }), old, testContext))).toHaveLength(1);
  });

  it.each([
    ['Active', undefined, []],
    ['X', undefined, ['status.Phase: Invalid value: "X": may only be \'Active\' if `deletionTimestamp` is empty']],
    [
      'Active',
      '2026-01-01T00:00:00Z',
      ['status.Phase: Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty'],
    ],
  ])('to phase %s while deleted at %s', (phase, deletionTimestamp, want) => {
    const given = namespace({ status: { phase } }, deletionTimestamp === undefined ? {} : { deletionTimestamp });
    expect(texts(namespaceStatusSubresource.validate!(given, old, testContext))).toEqual(want);
  });
});

it('is held while it has finalizers, and says that it goes', () => {
  const held = prepared(strategy, namespace());
  expect(strategy.deletion!.holds!(held)).toBe(true);
  expect(strategy.deletion!.holds!(namespace({ spec: {} }))).toBe(false);
  strategy.deletion!.prepareForDelete!(held, testContext);
  expect(namespaceTable.cells(held, { nowMs: 0 })).toEqual(['shop', 'Terminating', '<unknown>']);
});
