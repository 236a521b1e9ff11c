import { del, get, keep, made, notFound, ok, patch, post, put, refused, type Table } from './case.js';

const ipAddresses = '/apis/{group:networking}/v1/ipaddresses';
const service = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } });
const aService = (name: string, spec?: object) => keep(name, post('~/services', service(name, spec)));
const onNodes = (nodePort: number) => ({ type: 'NodePort', ports: [{ port: 80, nodePort }] });
const address = expect.stringMatching(/^10\.0\.0\.\d+$/) as string;
const nodePort = expect.any(Number) as number;
const badRange = 'provided port is not in the valid range. The range of valid ports is 30000-32767';

// prettier-ignore
export const services: Table = {
  name: 'services',
  everywhere: true,
  rows: [
    ['get an address', [], post('~/services', service('s')), made({ spec: { clusterIP: address, clusterIPs: [address], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' } })],
    ['have it as an object', [aService('s')], get(`${ipAddresses}/{s.spec.clusterIP}`), ok({ kind: 'IPAddress', metadata: { labels: { 'ipaddress.{label:ip-family}': 'IPv4', 'ipaddress.{label:managed-by}': '{group:ipallocator}' } }, spec: { parentRef: { resource: 'services', namespace: '{ns}', name: 's' } } })],
    ['give it back when they go', [aService('s')], del('~/services/s'), ok({}, { then: [[get(`${ipAddresses}/{s.spec.clusterIP}`), notFound()]] })],
    ['give it back when a finalizer lets them go', [keep('s', post('~/services', { ...service('s'), metadata: { name: 's', finalizers: ['example.com/f'] } })), del('~/services/s')], patch('~/services/s', { metadata: { finalizers: null } }), ok({}, { then: [[get(`${ipAddresses}/{s.spec.clusterIP}`), notFound()]] })],
    ['keep it while a finalizer holds them', [keep('s', post('~/services', { ...service('s'), metadata: { name: 's', finalizers: ['example.com/f'] } })), del('~/services/s')], get(`${ipAddresses}/{s.spec.clusterIP}`), ok()],
    ['give it back with their collection', [aService('s')], del('~/services'), ok({}, { then: [[get(`${ipAddresses}/{s.spec.clusterIP}`), notFound()]] })],
    ['cannot have what another one has', [aService('s')], post('~/services', service('t', { clusterIP: '{s.spec.clusterIP}' })), refused(422, 'Invalid', /^Service "t" is invalid: spec\.clusterIPs: Invalid value: \["(.*)"\]: failed to allocate IP \1: provided IP is already allocated$/)],
    ['cannot have what is out of range', [], post('~/services', service('t', { clusterIP: '192.168.1.1' })), refused(422, 'Invalid', 'Service "t" is invalid: spec.clusterIPs: Invalid value: ["192.168.1.1"]: failed to allocate IP 192.168.1.1: the provided network does not match the current range')],
    ['cannot have what is nobody\'s', [], post('~/services', service('t', { clusterIP: '10.0.0.255' })), refused(422, 'Invalid', /the provided IP \(10\.0\.0\.255\) is not in the valid range\. The range of valid IPs is 10\.0\.0\.0\/24$/)],
    ['cannot have a family that the cluster has not', [], post('~/services', service('t', { ipFamilies: ['IPv6'] })), refused(422, 'Invalid', 'Service "t" is invalid: spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster')],
    ['cannot have both', [], post('~/services', service('t', { ipFamilyPolicy: 'RequireDualStack' })), refused(422, 'Invalid', 'Service "t" is invalid: spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services')],
    ['may prefer both', [], post('~/services', service('t', { ipFamilyPolicy: 'PreferDualStack' })), made({ spec: { ipFamilies: ['IPv4'], clusterIPs: [address] } })],
    ['without a head have none', [], post('~/services', service('s', { clusterIP: 'None' })), made({ spec: { clusterIPs: ['None'], ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' } })],
    ['elsewhere have none', [], post('~/services', service('s', { type: 'ExternalName', externalName: 'a.b' })), made({}, { absent: ['spec.clusterIP', 'spec.clusterIPs', 'spec.ipFamilies'] })],
    ['twice of one name take none', [aService('s')], post('~/services', service('s')), refused(409, 'AlreadyExists')],
    ['keep it when written back without', [aService('s')], put('~/services/s', service('s', { selector: { a: 'b' } })), ok({ spec: { clusterIP: '{s.spec.clusterIP}', selector: { a: 'b' } } })],
    ['keep it for life', [aService('s')], patch('~/services/s', { spec: { clusterIP: '10.0.0.3' } }), refused(422, 'Invalid', 'Service "s" is invalid: spec.clusterIPs[0]: Invalid value: ["10.0.0.3"]: may not change once set')],
    ['moved elsewhere give it back', [aService('s')], patch('~/services/s', { spec: { type: 'ExternalName', externalName: 'a.b' } }), ok({}, { absent: ['spec.clusterIP'], then: [[get(`${ipAddresses}/{s.spec.clusterIP}`), notFound()]] })],
    ['moved back get one', [aService('s', { type: 'ExternalName', externalName: 'a.b' })], patch('~/services/s', { spec: { type: 'ClusterIP', externalName: null } }), ok({ spec: { clusterIP: address } })],
    ['show it in their row', [aService('s')], get('~/services/s', { accept: 'application/json;as=Table;v=v1;g={group:meta}' }), ok({ rows: [{ cells: ['s', 'ClusterIP', '{s.spec.clusterIP}', '<none>', '80/TCP', expect.any(String), '<none>'] }] })],
  ],
};

/** Ports that are asked for are low ones: services that ask for none are given one of the upper band. */
// prettier-ignore
export const nodePorts: Table = {
  name: 'node ports',
  rows: [
    ['are given', [], post('~/services', service('s', { type: 'NodePort' })), made({ spec: { ports: [{ nodePort }], externalTrafficPolicy: 'Cluster' } })],
    ['are shared by the protocols of a port', [], post('~/services', service('s', { type: 'NodePort', ports: [{ name: 'u', port: 53, protocol: 'UDP' }, { name: 't', port: 53, nodePort: 30_053 }] })), made({ spec: { ports: [{ nodePort: 30_053 }, { nodePort: 30_053 }] } })],
    ['may be asked for', [], post('~/services', service('s', onNodes(30_001))), made({ spec: { ports: [{ nodePort: 30_001 }] } })],
    ['are for one service alone', [aService('s', onNodes(30_002))], post('~/services', service('t', onNodes(30_002))), refused(422, 'Invalid', 'Service "t" is invalid: spec.ports[0].nodePort: Invalid value: 30002: provided port is already allocated')],
    ['are within the range', [], post('~/services', service('t', onNodes(80))), refused(422, 'Invalid', `Service "t" is invalid: spec.ports[0].nodePort: Invalid value: 80: ${badRange}`)],
    ['are not looked at in a dry run', [], post('~/services?dryRun=All', service('t', onNodes(80))), made({ spec: { ports: [{ nodePort: 80 }] } })],
    ['are had again when a service goes', [aService('s', onNodes(30_003)), del('~/services/s')], post('~/services', service('t', onNodes(30_003))), made()],
    ['are had again when a service wants none', [aService('s', onNodes(30_004)), patch('~/services/s', { spec: { type: 'ClusterIP' } })], post('~/services', service('t', onNodes(30_004))), made({}, { then: [[get('~/services/s'), ok({}, { absent: ['spec.ports.0.nodePort'] })]] })],
    ['are had again when a service wants another', [aService('s', onNodes(30_005)), put('~/services/s', service('s', onNodes(30_006)))], post('~/services', service('t', onNodes(30_005))), made()],
    ['are kept by a service that is written back without', [aService('s', onNodes(30_007))], put('~/services/s', service('s', { type: 'NodePort' })), ok({ spec: { ports: [{ nodePort: 30_007 }] } })],
    ['are kept by a service that becomes balanced', [aService('s', onNodes(30_008))], patch('~/services/s', { spec: { type: 'LoadBalancer' } }), ok({ spec: { allocateLoadBalancerNodePorts: true, ports: [{ nodePort: 30_008 }] } })],
    ['are not given where a balancer needs none', [], post('~/services', service('s', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false })), made({}, { absent: ['spec.ports.0.nodePort'] })],
    ['tell of health where traffic stays on its node', [], post('~/services', service('s', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' })), made({ spec: { healthCheckNodePort: nodePort, ports: [{ nodePort }] } })],
    ['of health are asked for', [], post('~/services', service('s', { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_009 })), made({ spec: { healthCheckNodePort: 30_009 } })],
    ['of health that no node has', [], post('~/services', service('s', { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 80 })), refused(422, 'Invalid', `Service "s" is invalid: spec.healthCheckNodePort: Invalid value: 80: ${badRange}`)],
    ['of health are given back', [aService('s', { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_010 }), patch('~/services/s', { spec: { externalTrafficPolicy: 'Cluster' } })], post('~/services', service('t', onNodes(30_010))), made({}, { then: [[get('~/services/s'), ok({}, { absent: ['spec.healthCheckNodePort'] })]] })],
  ],
};

// prettier-ignore
export const serviceRanges: Table = {
  name: 'ranges of service addresses',
  everywhere: true,
  rows: [
    ['the first is there from the start', [], get('/apis/{group:networking}/v1/servicecidrs'), ok({ items: expect.arrayContaining([expect.objectContaining({ spec: { cidrs: ['10.0.0.0/24'] } })]) })],
    ['and the address of the server is taken', [], get(`${ipAddresses}/10.0.0.1`), ok({ spec: { parentRef: { namespace: 'default' } } })],
  ],
};
