import type { KubeObject } from '../../machinery/kube-object.js';
import { prepared, refusals, updateRefusals } from '../../../test/harness/strategies.js';
import { ingressClassStrategy } from './ingress-class.strategy.js';
import { ingressClassTable } from './ingress-class.table.js';
import { ipAddressStrategy } from './ip-address.strategy.js';
import { ipAddressTable } from './ip-address.table.js';
import { serviceCidrStrategy } from './service-cidr.strategy.js';
import { serviceCidrTable } from './service-cidr.table.js';

const object =
  (kind: string) =>
  (spec: object): KubeObject => ({ kind, apiVersion: 'networking.k8s.io/v1', metadata: { name: 'n' }, spec });

describe('IngressClass', () => {
  const ingressClass = object('IngressClass');
  const controller = 'example.com/c';
  const parameters = (rest: object) => ({ controller, parameters: { kind: 'K', name: 'n', ...rest } });

  it.each<[string, object, string[]]>([
    ['a controller', { controller }, []],
    ['parameters', parameters({ apiGroup: 'example.com' }), []],
    ['parameters in a namespace', parameters({ scope: 'Namespace', namespace: 'x' }), []],
    ['no controller', {}, ['spec.controller: Required value']],
    [
      'a controller without a domain',
      { controller: 'a b' },
      ['spec.controller: Invalid value: "a b": must be a domain-prefixed path (such as "acme.io/foo")'],
    ],
    [
      'a controller with an invalid path',
      { controller: 'example.com/a b' },
      [
        `spec.controller: Invalid value: "a b": Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')`,
      ],
    ],
    [
      'a controller that is too long',
      { controller: `example.com/${'a'.repeat(240)}` },
      ['spec.controller: Too long: may not be more than 250 bytes'],
    ],
    ['parameters without a kind', { controller, parameters: { name: 'n' } }, ['spec.parameters.kind: Required value']],
    [
      'parameters without a namespace',
      parameters({ scope: 'Namespace' }),
      ["spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"],
    ],
    [
      'a namespace with scope Cluster',
      parameters({ namespace: 'x' }),
      ["spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"],
    ],
    [
      'an unknown scope',
      parameters({ scope: 'World' }),
      ['spec.parameters.scope: Unsupported value: "World": supported values: "Cluster", "Namespace"'],
    ],
  ])('create with %s is validated', (_case, spec, want) =>
    expect(refusals(ingressClassStrategy, ingressClass(spec))).toEqual(want),
  );

  it('controller is immutable', () =>
    expect(
      updateRefusals(ingressClassStrategy, ingressClass({ controller: 'example.com/d' }), ingressClass({ controller })),
    ).toEqual(['spec.controller: Invalid value: "example.com/d": field is immutable']));

  it('the default scope of parameters is Cluster', () =>
    expect(prepared(ingressClassStrategy, ingressClass(parameters({})))['spec']).toEqual(
      parameters({ scope: 'Cluster' }),
    ));

  it.each([
    [{ controller }, '<none>'],
    [parameters({}), 'K/n'],
    [parameters({ apiGroup: 'example.com' }), 'K.example.com/n'],
  ])('table row of an IngressClass with spec %j', (spec, want) =>
    expect(ingressClassTable.cells(ingressClass(spec), { nowMs: 0 })).toEqual(['n', controller, want, '<unknown>']),
  );
});

describe('IPAddress', () => {
  const address = object('IPAddress');
  const parentRef = { resource: 'services', namespace: 'x', name: 's' };

  it.each<[object, string[]]>([
    [{ parentRef }, []],
    [{ parentRef: { group: 'example.com', resource: 'r', name: 'n' } }, []],
    [{}, ['spec.parentRef: Required value']],
    [{ parentRef: {} }, ['spec.parentRef.resource: Required value', 'spec.parentRef.name: Required value']],
    [{ parentRef: { ...parentRef, name: '..' } }, [`spec.parentRef.name: Invalid value: "..": may not be '..'`]],
  ])('create with spec %j is validated', (spec, want) =>
    expect(refusals(ipAddressStrategy, address(spec))).toEqual(want),
  );

  it('parentRef is immutable', () =>
    expect(
      updateRefusals(ipAddressStrategy, address({ parentRef: { ...parentRef, name: 'y' } }), address({ parentRef })),
    ).toEqual([
      'spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"x","Name":"y"}: field is immutable',
    ]));

  it.each<[string, string[]]>([
    ['192.0.2.1', []],
    ['2001:db8::1', []],
    ['x', ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']],
    ['192.0.02.1', ['must not have leading 0s']],
    ['2001:DB8::1', ['must be in canonical form ("2001:db8::1")']],
  ])('the name %s is validated', (name, want) => expect(ipAddressStrategy.validateName(name)).toEqual(want));

  it.each([
    [{ parentRef }, 'services/x/s'],
    [{ parentRef: { group: 'example.com', resource: 'r', name: 'n' } }, 'r.example.com/n'],
    [{}, '<none>'],
  ])('table row of an IPAddress with spec %j', (spec, want) =>
    expect(ipAddressTable.cells(address(spec), { nowMs: 0 })).toEqual(['n', want, '<unknown>']),
  );
});

describe('ServiceCIDR', () => {
  const serviceCidr = (...cidrs: string[]) => object('ServiceCIDR')({ cidrs });

  it.each<[string[], string[]]>([
    [['10.0.0.0/16'], []],
    [['10.0.0.0/16', 'fd00::/112'], []],
    [[], ['spec.cidrs: Required value: at least one CIDR required']],
    [
      ['10.0.0.0/16', '10.1.0.0/16'],
      [
        'spec.cidrs: Invalid value: ["10.0.0.0/16","10.1.0.0/16"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
      ],
    ],
    [
      ['10.0.0.0/16', 'fd00::/112', '10.1.0.0/16'],
      ['spec.cidrs: Invalid value: {"CIDRs":["10.0.0.0/16","fd00::/112","10.1.0.0/16"]}: may only hold up to 2 values'],
    ],
    [['10.0.0.5/16'], ['spec.cidrs[0]: Invalid value: "10.0.0.5/16": must not have bits set beyond the prefix length']],
  ])('create with cidrs %j is validated', (cidrs, want) =>
    expect(refusals(serviceCidrStrategy, serviceCidr(...cidrs))).toEqual(want),
  );

  it.each<[string[], string[]]>([
    [['10.0.0.0/16'], []],
    [['10.0.0.0/16', 'fd00::/112'], []],
    [['10.1.0.0/16'], ['spec.cidrs[0]: Invalid value: "10.1.0.0/16": field is immutable']],
    [['10.1.0.0/16', 'fd00::/112'], ['spec.cidrs[0]: Invalid value: "10.1.0.0/16": field is immutable']],
    [[], ['spec.cidrs: Invalid value: []: field is immutable']],
  ])('an update from one CIDR to %j is validated', (cidrs, want) =>
    expect(updateRefusals(serviceCidrStrategy, serviceCidr(...cidrs), serviceCidr('10.0.0.0/16'))).toEqual(want),
  );

  it('table row of a ServiceCIDR', () =>
    expect(serviceCidrTable.cells(serviceCidr('10.0.0.0/16', 'fd00::/112'), { nowMs: 0 })).toEqual([
      'n',
      '10.0.0.0/16,fd00::/112',
      '<unknown>',
    ]));
});
