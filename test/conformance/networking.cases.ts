import {
  del,
  get,
  invalid,
  keep,
  created,
  names,
  ok,
  patch,
  post,
  put,
  refused,
  type Step,
  type Table,
} from './case.js';

const networking = '/apis/{group:networking}/v1';
const ingresses = `${networking}/namespaces/{ns}/ingresses`;
const policies = `${networking}/namespaces/{ns}/networkpolicies`;
const slices = '/apis/{group:discovery}/v1/namespaces/{ns}/endpointslices';
const backend = { service: { name: 's', port: { number: 80 } } };
const aPolicy: Step = keep('p', post(policies, { metadata: { name: 'p' }, spec: { podSelector: {} } }));
const anIngress: Step = keep('i', post(ingresses, { metadata: { name: 'i' }, spec: { defaultBackend: backend } }));
const slice = { metadata: { name: 's' }, addressType: 'IPv4', endpoints: [{ addresses: ['192.0.2.1'] }] };
const aSlice: Step = keep('s', post(slices, { ...slice, ports: [{ port: 80 }] }));
const lines = { accept: 'application/json;as=Table;v=v1;g={group:meta}, application/json' };

// prettier-ignore
export const networks: Table = {
  name: 'networks',
  rows: [
    ['a NetworkPolicy gets policyTypes Ingress by default', [], aPolicy, created({ spec: { podSelector: {}, policyTypes: ['Ingress'] }, metadata: { generation: 1 } })],
    ['a NetworkPolicy counts its generation', [aPolicy], patch(`${policies}/p`, { spec: { egress: [{}] } }), ok({ metadata: { generation: 2 } })],
    ['empty policyTypes get the default again', [aPolicy], patch(`${policies}/p`, { spec: { policyTypes: [] } }), ok({ spec: { policyTypes: ['Ingress'] }, metadata: { generation: 1 } })],
    ['a NetworkPolicy with an empty peer is rejected (422)', [aPolicy], patch(`${policies}/p`, { spec: { ingress: [{ from: [{}] }] } }), invalid('spec.ingress[0].from[0]')],
    ['a new Ingress has an empty load balancer status', [], anIngress, created({ status: { loadBalancer: {} } })],
    ['Ingress status changes the addresses only', [anIngress], patch(`${ingresses}/i/status`, { spec: {}, status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } }), ok({ spec: { defaultBackend: backend }, metadata: { generation: 1 }, status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } })],
    ['an Ingress update cannot change the status', [anIngress], put(`${ingresses}/i`, { metadata: { name: 'i' }, spec: { defaultBackend: backend }, status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } }), ok({ status: { loadBalancer: {} } })],
    ['an invalid address of an Ingress is rejected (422)', [anIngress], patch(`${ingresses}/i/status`, { status: { loadBalancer: { ingress: [{ ip: 'x' }] } } }), invalid('status.loadBalancer.ingress[0].ip')],
    ['an Ingress without rules and backend is rejected (422)', [], post(ingresses, { metadata: { name: 'i' }, spec: {} }), invalid('spec')],
    ['Ingresses as a Table', [anIngress], get(ingresses, lines), ok({ kind: 'Table' })],
    ['EndpointSlice ports get name and protocol by default', [], aSlice, created({ ports: [{ name: '', port: 80, protocol: 'TCP' }], endpoints: [{ conditions: {} }] })],
    ['an EndpointSlice with empty lists has nulls', [], post(slices, { metadata: { name: 'n' }, addressType: 'IPv4', endpoints: [], ports: [] }), created({ endpoints: null, ports: null })],
    ['PUT creates an absent EndpointSlice (201)', [], put(`${slices}/s`, slice), created({ addressType: 'IPv4' })],
    ['the addressType of an EndpointSlice is immutable (422)', [aSlice], patch(`${slices}/s`, { addressType: 'FQDN' }), invalid('addressType')],
    ['a ServiceCIDR with two CIDRs of one family is rejected (422)', [], post(`${networking}/servicecidrs?dryRun=All`, { metadata: { name: '{ns}' }, spec: { cidrs: ['10.9.0.0/16', '10.8.0.0/16'] } }), invalid('spec.cidrs')],
    ['an IPAddress name that is not canonical is rejected (422)', [], post(`${networking}/ipaddresses?dryRun=All`, { metadata: { name: '2001:DB8::1' }, spec: { parentRef: { resource: 'services', name: 's' } } }), invalid('metadata.name')],
    ['the controller of an IngressClass is immutable (422)', [post(`${networking}/ingressclasses`, { metadata: { name: '{ns}' }, spec: { controller: 'example.com/c' } })], patch(`${networking}/ingressclasses/{ns}`, { spec: { controller: 'example.com/d' } }), invalid('spec.controller')],
    ['deletecollection deletes all NetworkPolicies', [aPolicy], del(policies), ok({ kind: 'NetworkPolicyList' }, { then: [[get(policies), names()]] })],
    ['an absent Ingress is not found (404)', [], get(`${ingresses}/none`), refused(404, 'NotFound', /^ingresses\..* "none" not found$/)],
  ],
};
