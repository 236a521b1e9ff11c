import type { PersistentVolumeClaim } from '../../catalog/types/core.v1.js';
import type { ResourceSlice } from '../../catalog/types/resource.v1.js';
import { goQuote } from '../../machinery/field-error.js';
import { semanticEqual } from '../../machinery/semantic-equal.js';
import { defineAdmissionPlugin, type AdmissionHooks } from '../admission-plugin.js';
import { certificateRequestProblem, podCertificateRequestProblem } from '../nodes/node-certificates.js';
import { nodeOf } from '../../machinery/user-info.js';
import type { NodeRule } from '../nodes/node-rule.js';
import { ownNodeProblem } from '../nodes/own-node.js';
import { podRules } from '../nodes/pod-rules.js';
import { podTokenProblem } from '../nodes/pod-token.js';
import type { PluginDependencies } from '../plugin-dependencies.js';
import { forbid } from '../refusal.js';

/** Limits kubelets to writes about their own Node and the Pods that are scheduled to it. */
export const nodeRestriction = defineAdmissionPlugin({
  name: 'NodeRestriction',
  runs: 'if enabled',
  make: makeNodeRestriction,
});

function makeNodeRestriction(dependencies: PluginDependencies): AdmissionHooks {
  const { naming, featureGates } = dependencies;
  const leaseNamespace = naming.systemNamespace('node-lease');

  const rules: Readonly<Record<string, NodeRule>> = {
    ...podRules(dependencies),
    '/nodes': (attributes, node) => ownNodeProblem(dependencies, attributes, node),
    '/nodes/status': (attributes, node) => ownNodeProblem(dependencies, attributes, node),
    '/persistentvolumeclaims/status': ({ operation, object, old }, node) => {
      if (operation !== 'UPDATE') return `unexpected operation ${goQuote(operation)}`;
      if (semanticEqual(withoutCapacity(object), withoutCapacity(old))) return undefined;
      return `node ${goQuote(node)} is not allowed to update fields other than status.quantity and status.conditions`;
    },
    '/serviceaccounts/token': (attributes, node) => podTokenProblem(dependencies, attributes, node),
    [`${naming.group('coordination')}/leases`]: ({ name, namespace }, node) => {
      if (namespace !== leaseNamespace)
        return `can only access leases in the ${goQuote(leaseNamespace)} system namespace`;
      return name === node ? undefined : 'can only access node lease with the same name as the requesting node';
    },
    [`${naming.group('storage')}/csinodes`]: ({ name }, node) =>
      name === node ? undefined : 'can only access CSINode with the same name as the requesting node',
    [`${naming.group('certificates')}/certificatesigningrequests`]: (attributes, node) =>
      featureGates['AllowInsecureKubeletCertificateSigningRequests'] === true
        ? undefined
        : certificateRequestProblem(dependencies, attributes, node),
    [`${naming.group('certificates')}/podcertificaterequests`]: (attributes, node) =>
      podCertificateRequestProblem(dependencies, attributes, node),
    [`${naming.group('resource')}/resourceslices`]: ({ object, old }, node) =>
      [object, old].every((slice: ResourceSlice | undefined) => !slice || slice.spec?.nodeName === node)
        ? undefined
        : 'can only create, modify and delete ResourceSlices with the same nodeName as the requesting node',
  };
  /** Resources of which a node may write only the subresources that have a rule. */
  const closed: Readonly<Record<string, string>> = {
    '/pods': "unexpected pod subresource, only 'status' and 'eviction' are allowed",
    '/persistentvolumeclaims': 'may only update PVC status',
    [`${naming.group('certificates')}/podcertificaterequests`]: 'unexpected subresource',
  };

  return {
    actsOnUnchanged: ({ request }) => nodeOf(request.user) !== undefined,
    async admit(attributes) {
      const { resource, subresource, request } = attributes;
      const node = nodeOf(request.user);
      if (node === undefined) return;
      if (node === '') throw forbid(attributes, `could not determine node from user ${goQuote(request.user.name)}`);
      const path = `${resource.group}/${resource.resource}`;
      const rule = rules[subresource === '' ? path : `${path}/${subresource}`];
      const refused = rule ? await rule(attributes, node) : closed[path];
      if (refused !== undefined) throw forbid(attributes, refused);
    },
  };
}

/** Returns the claim without what a node may change: the sizes and conditions in its status. */
function withoutCapacity(claim: PersistentVolumeClaim | undefined): unknown {
  if (!claim) return undefined;
  const { metadata, status = {}, ...rest } = claim;
  const { resourceVersion: _version, managedFields: _managed, ...kept } = metadata;
  const { capacity: _c, conditions: _d, allocatedResources: _r, allocatedResourceStatuses: _s, ...keptStatus } = status;
  return { ...rest, metadata: kept, status: keptStatus };
}
