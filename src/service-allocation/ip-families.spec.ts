import { texts } from '../../test/harness/strategies.js';
import { chooseFamilies, choosePolicy, type ClusterFamilies } from './ip-families.js';

const four: ClusterFamilies = ['IPv4'];
const six: ClusterFamilies = ['IPv6'];
const both: ClusterFamilies = ['IPv4', 'IPv6'];
const sixFirst: ClusterFamilies = ['IPv6', 'IPv4'];

function chosen(cluster: ClusterFamilies, fields: object, before?: object): string {
  const complete = (spec: object) => ({ type: 'ClusterIP', ...spec }) as Record<string, unknown>;
  const spec = complete(fields);
  choosePolicy(spec, before && complete(before));
  const errors = chooseFamilies(spec, before && complete(before), cluster);
  if (errors.length > 0) return texts(errors).join(' | ');
  return [spec['ipFamilyPolicy'], spec['ipFamilies'], spec['clusterIPs']].map((it) => String(it)).join(' ');
}

const noDualStack = 'this cluster is not configured for dual-stack services';
const a = '10.0.0.9';
const b = 'fd00::9';
const headless = { clusterIP: 'None', clusterIPs: ['None'] };

// prettier-ignore
it.each<[ClusterFamilies, object, string]>([
  [four, {}, 'SingleStack IPv4 undefined'],
  [sixFirst, {}, 'SingleStack IPv6 undefined'],
  [four, { ipFamilyPolicy: 'PreferDualStack' }, 'PreferDualStack IPv4 undefined'],
  [both, { ipFamilyPolicy: 'PreferDualStack' }, 'PreferDualStack IPv4,IPv6 undefined'],
  [both, { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6'] }, 'RequireDualStack IPv6,IPv4 undefined'],
  [sixFirst, { ipFamilyPolicy: 'RequireDualStack' }, 'RequireDualStack IPv6,IPv4 undefined'],
  [four, { ipFamilyPolicy: 'RequireDualStack' }, `spec.ipFamilyPolicy: Invalid value: "RequireDualStack": ${noDualStack}`],
  [four, { ipFamilies: ['IPv6'] }, 'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
  [six, { clusterIP: a, clusterIPs: [a] }, `spec.clusterIPs[0]: Invalid value: ["${a}"]: IPv4 is not configured on this cluster`],
  [both, { clusterIP: b, clusterIPs: [b] }, `SingleStack IPv6 ${b}`],
  [both, { clusterIP: a, clusterIPs: [a, b] }, "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified"],
  [both, { ipFamilies: ['IPv4', 'IPv6'] }, "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified"],
  [both, { clusterIP: b, clusterIPs: [b, a], ipFamilyPolicy: 'PreferDualStack' }, `PreferDualStack IPv6,IPv4 ${b},${a}`],
  [four, { ...headless }, 'RequireDualStack IPv4,IPv6 None'],
  [six, { ...headless }, 'RequireDualStack IPv6,IPv4 None'],
  [four, { ...headless, ipFamilies: ['IPv6'] }, 'RequireDualStack IPv6,IPv4 None'],
  [four, { ...headless, ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] }, 'SingleStack IPv6 None'],
  [four, { ...headless, selector: { a: 'b' } }, 'SingleStack IPv4 None'],
  [both, { ...headless, selector: { a: 'b' }, ipFamilyPolicy: 'PreferDualStack' }, 'PreferDualStack IPv4,IPv6 None'],
  [four, { type: 'ExternalName' }, 'undefined undefined undefined'],
])('with cluster families %j, a new Service %j gets %s', (cluster, spec, want) => expect(chosen(cluster, spec)).toBe(want));

const one = { clusterIP: a, clusterIPs: [a], ipFamilies: ['IPv4'] };
const two = { clusterIP: a, clusterIPs: [a, b], ipFamilies: ['IPv4', 'IPv6'] };
const single = { ipFamilyPolicy: 'SingleStack' };
const prefers = { ipFamilyPolicy: 'PreferDualStack' };
const requires = { ipFamilyPolicy: 'RequireDualStack' };

// prettier-ignore
it.each<[string, ClusterFamilies, object, object, string]>([
  ['an absent policy is kept', both, { ...two }, { ...two, ...requires }, `RequireDualStack IPv4,IPv6 ${a},${b}`],
  ['RequireDualStack adds a second family', both, { ...one, ...requires }, { ...one, ...single }, `RequireDualStack IPv4,IPv6 ${a}`],
  ['PreferDualStack with unchanged lists keeps one family', both, { ...one, ...prefers }, { ...one, ...single }, `PreferDualStack IPv4,IPv6 ${a}`],
  ['PreferDualStack keeps one family in a cluster with two', both, { ...one, ...prefers }, { ...one, ...prefers }, `PreferDualStack IPv4 ${a}`],
  ['PreferDualStack keeps two families in a cluster with one', four, { ...two, ...prefers }, { ...two, ...prefers }, `PreferDualStack IPv4,IPv6 ${a},${b}`],
  ['SingleStack releases the second family', both, { ...two, ...single }, { ...two, ...requires }, `SingleStack IPv4 ${a}`],
  ['SingleStack with shortened lists releases the second family', both, { ...one, ...single }, { ...two, ...requires }, `SingleStack IPv4 ${a}`],
  ['shortened lists without SingleStack are rejected', both, { ...one, ...requires }, { ...two, ...requires }, "spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": must be 'SingleStack' to release the secondary cluster IP | spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": must be 'SingleStack' to release the secondary IP family"],
  ['an ExternalName Service becomes ClusterIP', both, {}, { type: 'ExternalName' }, 'SingleStack IPv4 undefined'],
  ['absent families are inferred from the address', four, { clusterIP: a, clusterIPs: [a] }, { ...one, ...single }, `SingleStack IPv4 ${a}`],
  ['a selector makes unserved families invalid', four, { ...headless, selector: { a: 'b' }, ...requires, ipFamilies: ['IPv4', 'IPv6'] }, { ...headless, ...requires, ipFamilies: ['IPv4', 'IPv6'] }, `spec.ipFamilyPolicy: Invalid value: "RequireDualStack": ${noDualStack} | spec.ipFamilies[1]: Invalid value: "IPv6": not configured on this cluster`],
])('in an update, %s', (_case, cluster, spec, before, want) => expect(chosen(cluster, spec, before)).toBe(want));
