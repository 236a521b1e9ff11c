import { del, get, invalid, keep, made, names, ok, patch, post, put, refused, type Step, type Table } from './case.js';

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
    ['a policy is about what comes in', [], aPolicy, made({ spec: { podSelector: {}, policyTypes: ['Ingress'] }, metadata: { generation: 1 } })],
    ['a policy counts its changes', [aPolicy], patch(`${policies}/p`, { spec: { egress: [{}] } }), ok({ metadata: { generation: 2 } })],
    ['types that are emptied are chosen again', [aPolicy], patch(`${policies}/p`, { spec: { policyTypes: [] } }), ok({ spec: { policyTypes: ['Ingress'] }, metadata: { generation: 1 } })],
    ['a policy with a bad peer', [aPolicy], patch(`${policies}/p`, { spec: { ingress: [{ from: [{}] }] } }), invalid('spec.ingress[0].from[0]')],
    ['an ingress has a status from the beginning', [], anIngress, made({ status: { loadBalancer: {} } })],
    ['addresses of an ingress are its status', [anIngress], patch(`${ingresses}/i/status`, { spec: {}, status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } }), ok({ spec: { defaultBackend: backend }, metadata: { generation: 1 }, status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } })],
    ['addresses of an ingress are no part of the rest', [anIngress], put(`${ingresses}/i`, { metadata: { name: 'i' }, spec: { defaultBackend: backend }, status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } }), ok({ status: { loadBalancer: {} } })],
    ['an ingress with a bad address', [anIngress], patch(`${ingresses}/i/status`, { status: { loadBalancer: { ingress: [{ ip: 'x' }] } } }), invalid('status.loadBalancer.ingress[0].ip')],
    ['an ingress of nothing', [], post(ingresses, { metadata: { name: 'i' }, spec: {} }), invalid('spec')],
    ['ingresses in a table', [anIngress], get(ingresses, lines), ok({ kind: 'Table' })],
    ['a slice names its ports', [], aSlice, made({ ports: [{ name: '', port: 80, protocol: 'TCP' }], endpoints: [{ conditions: {} }] })],
    ['a slice of nothing says so', [], post(slices, { metadata: { name: 'n' }, addressType: 'IPv4', endpoints: [], ports: [] }), made({ endpoints: null, ports: null })],
    ['a slice is made by PUT, too', [], put(`${slices}/s`, slice), made({ addressType: 'IPv4' })],
    ['a slice keeps its type', [aSlice], patch(`${slices}/s`, { addressType: 'FQDN' }), invalid('addressType')],
    ['ranges are of one family once', [], post(`${networking}/servicecidrs?dryRun=All`, { metadata: { name: '{ns}' }, spec: { cidrs: ['10.9.0.0/16', '10.8.0.0/16'] } }), invalid('spec.cidrs')],
    ['an address is called by its canonical form', [], post(`${networking}/ipaddresses?dryRun=All`, { metadata: { name: '2001:DB8::1' }, spec: { parentRef: { resource: 'services', name: 's' } } }), invalid('metadata.name')],
    ['a class keeps its controller', [post(`${networking}/ingressclasses`, { metadata: { name: '{ns}' }, spec: { controller: 'example.com/c' } })], patch(`${networking}/ingressclasses/{ns}`, { spec: { controller: 'example.com/d' } }), invalid('spec.controller')],
    ['policies are deleted together', [aPolicy], del(policies), ok({ kind: 'NetworkPolicyList' }, { then: [[get(policies), names()]] })],
    ['an ingress that is not there', [], get(`${ingresses}/none`), refused(404, 'NotFound', /^ingresses\..* "none" not found$/)],
  ],
};
