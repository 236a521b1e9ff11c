import type { KubeObject } from '../../machinery/kube-object.js';
import { prepared, refusals, testContext, texts, updateRefusals } from '../../../test/harness/strategies.js';
import { ageTable } from './age.table.js';
import { deviceClassStrategy } from './device-class.strategy.js';
import { deviceTaintRuleStatusSubresource, deviceTaintRuleStrategy } from './device-taint-rule.strategy.js';
import { poolStatusSubresource, poolStatusRequestStrategy } from './pool-status-request.strategy.js';

const object = (kind: string, spec: object, status?: object): KubeObject => ({
  kind,
  apiVersion: 'resource.k8s.io/v1',
  metadata: { name: 'r' },
  spec,
  ...(status && { status }),
});
const condition = { type: 'Complete', status: 'True', reason: 'R', lastTransitionTime: '2026-01-02T03:04:05Z' };

const selecting = (expression: string) => ({ selectors: [{ cel: { expression } }] });

describe('DeviceClass', () => {
  it.each<[object, string[]]>([
    [{}, []],
    [{ selectors: [{ cel: { expression: "device.driver == 'x'" } }], extendedResourceName: 'example.com/gpu' }, []],
    [{ selectors: [{}] }, ['spec.selectors[0].cel: Required value']],
    [
      { selectors: [{ cel: { expression: 'x'.repeat(10241) } }] },
      ['spec.selectors[0].cel.expression: Too long: may not be more than 10240 bytes'],
    ],
    [{ config: [{ opaque: { parameters: {} } }] }, ['spec.config[0].opaque.driver: Required value']],
    [
      { config: [{ opaque: { driver: 'd', parameters: [] } }] },
      ['spec.config[0].opaque.parameters: Invalid value: []: must be a valid JSON object'],
    ],
    [
      { extendedResourceName: 'gpu' },
      ['spec.extendedResourceName: Invalid value: "gpu": must be a valid extended resource name'],
    ],
  ])('spec %# is validated', (spec, want) =>
    expect(refusals(deviceClassStrategy, object('DeviceClass', spec))).toEqual(want),
  );

  it.each<[string, string[]]>([
    ["device.attributes['a.example.com'].isFast", []],
    ["device.capacity['a.example.com'].memory.isGreaterThan(quantity('1Gi'))", []],
    ["cel.bind(a, device.attributes['a.example.com'], a.isFast && a.isLarge)", []],
    [
      '',
      [
        'cel.expression: Invalid value: "": compilation failed: ERROR: <input>:1:0: Syntax error: mismatched input \'<EOF>\'',
      ],
    ],
    ['device.nope', ["compilation failed: ERROR: <input>:1:7: undefined field 'nope'"]],
    ['1', ['Invalid value: "1": must evaluate to bool or the unknown type, not int']],
    ["device.attributes['a.example.com'].models.includes('m')", ["undeclared reference to 'includes'"]],
    [
      'device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, device.attributes.all(d, true))))',
      ['selectors[0].cel.expression: Forbidden: too complex, exceeds cost limit'],
    ],
  ])('the selector %s is validated', (expression, want) =>
    expect(refusals(deviceClassStrategy, object('DeviceClass', selecting(expression)))).toEqual(
      want.map((text) => expect.stringContaining(text) as string),
    ),
  );

  it('functions of later releases are accepted in unchanged selectors', () => {
    const stored = object('DeviceClass', selecting("device.attributes['a.example.com'].models.includes('m')"));
    expect(updateRefusals(deviceClassStrategy, stored, stored)).toEqual([]);
    const other = object('DeviceClass', selecting("device.attributes['b.example.com'].models.includes('m')"));
    expect(updateRefusals(deviceClassStrategy, other, stored)).toHaveLength(1);
  });

  it('the table row of a DeviceClass', () =>
    expect(ageTable.cells(object('DeviceClass', {}), { nowMs: 0 })).toEqual(['r', '<unknown>']));
});

describe('DeviceTaintRule', () => {
  const rule = (taint: object, deviceSelector: object = {}, status: object = {}) =>
    object('DeviceTaintRule', { deviceSelector, taint }, status);
  const taint = { key: 'k', effect: 'NoExecute' };

  it.each<[object, object, string[]]>([
    [taint, { driver: 'dra.example.com', pool: 'a/b', device: 'd' }, []],
    [{ key: 'k' }, {}, ['spec.taint.effect: Required value']],
    [
      { key: 'k', effect: 'X' },
      {},
      ['spec.taint.effect: Unsupported value: "X": supported values: "NoExecute", "NoSchedule", "None"'],
    ],
    [taint, { driver: '' }, ['spec.deviceSelector.driver: Required value']],
  ])('taint %j with device selector %j is validated', (taint, selector, want) =>
    expect(refusals(deviceTaintRuleStrategy, rule(taint, selector))).toEqual(want),
  );

  it.each<[string, object, string]>([
    ['the same effect', {}, '2020-01-01T00:00:00Z'],
    ['another effect', { effect: 'NoSchedule' }, testContext.now],
    [
      'another effect and a new timeAdded',
      { effect: 'NoSchedule', timeAdded: '2021-01-01T00:00:00Z' },
      '2021-01-01T00:00:00Z',
    ],
  ])('an update with %s sets timeAdded', (_name, change, timeAdded) => {
    const old = { ...taint, timeAdded: '2020-01-01T00:00:00Z' };
    const changed = rule({ ...old, ...change });
    deviceTaintRuleStrategy.prepareForUpdate!(changed, rule(old), testContext);
    expect(changed['spec']).toMatchObject({ taint: { timeAdded } });
  });

  it('a create sets timeAdded to the time of the request', () =>
    expect(prepared(deviceTaintRuleStrategy, rule(taint))['spec']).toMatchObject({
      taint: { ...taint, timeAdded: testContext.now },
    }));

  it.each([
    [8, 0],
    [9, 1],
  ])('a status with %d conditions has %d errors', (count, errors) => {
    const conditions = Array.from({ length: count }, (_, i) => ({ ...condition, type: `T${i}` }));
    const changed = rule(taint, {}, { conditions });
    expect(deviceTaintRuleStatusSubresource.validate!(changed, changed, testContext)).toHaveLength(errors);
  });
});

describe('ResourcePoolStatusRequest', () => {
  const request = (spec: object, status?: object) => object('ResourcePoolStatusRequest', spec, status);
  const driver = 'dra.example.com';

  it.each<[object, string[]]>([
    [{ driver, poolName: 'p', limit: 1000 }, []],
    [{}, ['spec.driver: Required value']],
    [{ driver, limit: 0 }, ['spec.limit: Invalid value: 0: must be greater than or equal to 1']],
    [{ driver, limit: 1001 }, ['spec.limit: Invalid value: 1001: must be less than or equal to 1000']],
  ])('spec %j is validated', (spec, want) => expect(refusals(poolStatusRequestStrategy, request(spec))).toEqual(want));

  it('limit defaults to 100 and the spec is immutable', () => {
    expect(prepared(poolStatusRequestStrategy, request({ driver }, { poolCount: 1 }))).toEqual(
      request({ driver, limit: 100 }),
    );
    expect(updateRefusals(poolStatusRequestStrategy, request({ driver: 'x' }), request({ driver }))).toEqual([
      'spec: Invalid value: {"driver":"x","limit":100}: field is immutable',
    ]);
  });

  const pool = { driver, poolName: 'p', generation: 1 };
  it.each<[string, object, object | undefined, string[]]>([
    ['pools and conditions', { poolCount: 1, pools: [pool], conditions: [condition] }, undefined, []],
    ['no pool count', { pools: [] }, undefined, ['status.poolCount: Required value']],
    [
      'a negative device count',
      { poolCount: 1, pools: [{ ...pool, totalDevices: -1 }] },
      undefined,
      ['status.pools[0].totalDevices: Invalid value: -1: must be greater than or equal to 0'],
    ],
    ['a change', { poolCount: 1 }, { poolCount: 2 }, ['status: Invalid value: {"poolCount":1}: field is immutable']],
  ])('a status with %s is validated', (_name, status, before, want) =>
    expect(
      texts(poolStatusSubresource.validate!(request({ driver }, status), request({ driver }, before), testContext)),
    ).toEqual(want),
  );
});
