import { del, get, keep, created, notFound, ok, patch, post, put, refused, type Table } from './case.js';

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
    ['a Service gets a cluster IP', [], post('~/services', service('s')), created({ spec: { clusterIP: address, clusterIPs: [address], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' } })],
    ['a cluster IP has an IPAddress object', [aService('s')], get(`${ipAddresses}/{s.spec.clusterIP}`), ok({ kind: 'IPAddress', metadata: { labels: { 'ipaddress.{label:ip-family}': 'IPv4', 'ipaddress.{label:managed-by}': '{group:ipallocator}' } }, spec: { parentRef: { resource: 'services', namespace: '{ns}', name: 's' } } })],
    ['deletion releases the cluster IP', [aService('s')], del('~/services/s'), ok({}, { then: [[get(`${ipAddresses}/{s.spec.clusterIP}`), notFound()]] })],
    ['removal of the last finalizer releases the cluster IP', [keep('s', post('~/services', { ...service('s'), metadata: { name: 's', finalizers: ['example.com/f'] } })), del('~/services/s')], patch('~/services/s', { metadata: { finalizers: null } }), ok({}, { then: [[get(`${ipAddresses}/{s.spec.clusterIP}`), notFound()]] })],
    ['a Service with finalizers keeps its cluster IP while deleted', [keep('s', post('~/services', { ...service('s'), metadata: { name: 's', finalizers: ['example.com/f'] } })), del('~/services/s')], get(`${ipAddresses}/{s.spec.clusterIP}`), ok()],
    ['deletecollection releases cluster IPs', [aService('s')], del('~/services'), ok({}, { then: [[get(`${ipAddresses}/{s.spec.clusterIP}`), notFound()]] })],
    ['a cluster IP of another Service is rejected (422)', [aService('s')], post('~/services', service('t', { clusterIP: '{s.spec.clusterIP}' })), refused(422, 'Invalid', /^Service "t" is invalid: spec\.clusterIPs: Invalid value: \["(.*)"\]: failed to allocate IP \1: provided IP is already allocated$/)],
    ['a cluster IP outside of the range is rejected (422)', [], post('~/services', service('t', { clusterIP: '192.168.1.1' })), refused(422, 'Invalid', 'Service "t" is invalid: spec.clusterIPs: Invalid value: ["192.168.1.1"]: failed to allocate IP 192.168.1.1: the provided network does not match the current range')],
    ['the broadcast address is rejected (422)', [], post('~/services', service('t', { clusterIP: '10.0.0.255' })), refused(422, 'Invalid', /the provided IP \(10\.0\.0\.255\) is not in the valid range\. The range of valid IPs is 10\.0\.0\.0\/24$/)],
    ['an IP family that the cluster does not have is rejected (422)', [], post('~/services', service('t', { ipFamilies: ['IPv6'] })), refused(422, 'Invalid', 'Service "t" is invalid: spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster')],
    ['RequireDualStack on a single-stack cluster is rejected (422)', [], post('~/services', service('t', { ipFamilyPolicy: 'RequireDualStack' })), refused(422, 'Invalid', 'Service "t" is invalid: spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services')],
    ['PreferDualStack on a single-stack cluster gets one address', [], post('~/services', service('t', { ipFamilyPolicy: 'PreferDualStack' })), created({ spec: { ipFamilies: ['IPv4'], clusterIPs: [address] } })],
    ['clusterIP: None gets no address', [], post('~/services', service('s', { clusterIP: 'None' })), created({ spec: { clusterIPs: ['None'], ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' } })],
    ['type ExternalName gets no address', [], post('~/services', service('s', { type: 'ExternalName', externalName: 'a.b' })), created({}, { absent: ['spec.clusterIP', 'spec.clusterIPs', 'spec.ipFamilies'] })],
    ['a duplicate name leaks no address (409)', [aService('s')], post('~/services', service('s')), refused(409, 'AlreadyExists')],
    ['an update without clusterIP keeps it', [aService('s')], put('~/services/s', service('s', { selector: { a: 'b' } })), ok({ spec: { clusterIP: '{s.spec.clusterIP}', selector: { a: 'b' } } })],
    ['an update without clusterIP and clusterIPs keeps both', [aService('s')], put('~/services/s', service('s', { clusterIP: '', clusterIPs: [] })), ok({ spec: { clusterIP: '{s.spec.clusterIP}', clusterIPs: ['{s.spec.clusterIP}'] } })],
    ['an update with other clusterIPs and no clusterIP is rejected (422)', [aService('s')], put('~/services/s', service('s', { clusterIPs: ['10.0.0.3'] })), refused(422, 'Invalid', 'Service "s" is invalid: spec.clusterIPs: Invalid value: ["10.0.0.3"]: first value must match `clusterIP`')],
    ['an update from ExternalName with a clusterIP alone gets that one', [aService('s', { type: 'ExternalName', externalName: 'a.b' })], put('~/services/s', service('s', { type: 'ClusterIP', clusterIP: '10.0.0.4' })), ok({ spec: { clusterIP: '10.0.0.4', clusterIPs: ['10.0.0.4'] } })],
    ['the cluster IP is immutable (422)', [aService('s')], patch('~/services/s', { spec: { clusterIP: '10.0.0.3' } }), refused(422, 'Invalid', 'Service "s" is invalid: spec.clusterIPs[0]: Invalid value: ["10.0.0.3"]: may not change once set')],
    ['a change to ExternalName releases the cluster IP', [aService('s')], patch('~/services/s', { spec: { type: 'ExternalName', externalName: 'a.b' } }), ok({}, { absent: ['spec.clusterIP'], then: [[get(`${ipAddresses}/{s.spec.clusterIP}`), notFound()]] })],
    ['a change from ExternalName allocates a cluster IP', [aService('s', { type: 'ExternalName', externalName: 'a.b' })], patch('~/services/s', { spec: { type: 'ClusterIP', externalName: null } }), ok({ spec: { clusterIP: address } })],
    ['the Table row has the cluster IP', [aService('s')], get('~/services/s', { accept: 'application/json;as=Table;v=v1;g={group:meta}' }), ok({ rows: [{ cells: ['s', 'ClusterIP', '{s.spec.clusterIP}', '<none>', '80/TCP', expect.any(String), '<none>'] }] })],
  ],
};

/** Requested ports are low: Services without one get ports of the upper band. */
// prettier-ignore
export const nodePorts: Table = {
  name: 'node ports',
  rows: [
    ['a NodePort Service gets a node port', [], post('~/services', service('s', { type: 'NodePort' })), created({ spec: { ports: [{ nodePort }], externalTrafficPolicy: 'Cluster' } })],
    ['protocols of one port may share a node port', [], post('~/services', service('s', { type: 'NodePort', ports: [{ name: 'u', port: 53, protocol: 'UDP' }, { name: 't', port: 53, nodePort: 30_053 }] })), created({ spec: { ports: [{ nodePort: 30_053 }, { nodePort: 30_053 }] } })],
    ['a node port can be requested', [], post('~/services', service('s', onNodes(30_001))), created({ spec: { ports: [{ nodePort: 30_001 }] } })],
    ['a node port of another Service is rejected (422)', [aService('s', onNodes(30_002))], post('~/services', service('t', onNodes(30_002))), refused(422, 'Invalid', 'Service "t" is invalid: spec.ports[0].nodePort: Invalid value: 30002: provided port is already allocated')],
    ['a node port outside of the range is rejected (422)', [], post('~/services', service('t', onNodes(80))), refused(422, 'Invalid', `Service "t" is invalid: spec.ports[0].nodePort: Invalid value: 80: ${badRange}`)],
    ['a dry run does not check the range', [], post('~/services?dryRun=All', service('t', onNodes(80))), created({ spec: { ports: [{ nodePort: 80 }] } })],
    ['deletion releases the node port', [aService('s', onNodes(30_003)), del('~/services/s')], post('~/services', service('t', onNodes(30_003))), created()],
    ['a change of type releases the node port', [aService('s', onNodes(30_004)), patch('~/services/s', { spec: { type: 'ClusterIP' } })], post('~/services', service('t', onNodes(30_004))), created({}, { then: [[get('~/services/s'), ok({}, { absent: ['spec.ports.0.nodePort'] })]] })],
    ['a change of the node port releases the old one', [aService('s', onNodes(30_005)), put('~/services/s', service('s', onNodes(30_006)))], post('~/services', service('t', onNodes(30_005))), created()],
    ['an update without node port keeps it', [aService('s', onNodes(30_007))], put('~/services/s', service('s', { type: 'NodePort' })), ok({ spec: { ports: [{ nodePort: 30_007 }] } })],
    ['a change to LoadBalancer keeps the node port', [aService('s', onNodes(30_008))], patch('~/services/s', { spec: { type: 'LoadBalancer' } }), ok({ spec: { allocateLoadBalancerNodePorts: true, ports: [{ nodePort: 30_008 }] } })],
    ['allocateLoadBalancerNodePorts: false allocates none', [], post('~/services', service('s', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false })), created({}, { absent: ['spec.ports.0.nodePort'] })],
    ['externalTrafficPolicy: Local gets a healthCheckNodePort', [], post('~/services', service('s', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' })), created({ spec: { healthCheckNodePort: nodePort, ports: [{ nodePort }] } })],
    ['a healthCheckNodePort can be requested', [], post('~/services', service('s', { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_009 })), created({ spec: { healthCheckNodePort: 30_009 } })],
    ['a healthCheckNodePort outside of the range is rejected (422)', [], post('~/services', service('s', { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 80 })), refused(422, 'Invalid', `Service "s" is invalid: spec.healthCheckNodePort: Invalid value: 80: ${badRange}`)],
    ['a change of traffic policy releases the healthCheckNodePort', [aService('s', { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_010 }), patch('~/services/s', { spec: { externalTrafficPolicy: 'Cluster' } })], post('~/services', service('t', onNodes(30_010))), created({}, { then: [[get('~/services/s'), ok({}, { absent: ['spec.healthCheckNodePort'] })]] })],
  ],
};

// prettier-ignore
export const serviceRanges: Table = {
  name: 'ServiceCIDRs',
  everywhere: true,
  rows: [
    ['the default ServiceCIDR exists', [], get('/apis/{group:networking}/v1/servicecidrs'), ok({ items: expect.arrayContaining([expect.objectContaining({ spec: { cidrs: ['10.0.0.0/24'] } })]) })],
    ['the first address belongs to the kubernetes Service', [], get(`${ipAddresses}/10.0.0.1`), ok({ spec: { parentRef: { namespace: 'default' } } })],
  ],
};
