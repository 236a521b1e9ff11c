import type { NamingProfile } from '../../config/naming-profile.js';
import { goQuote } from '../../machinery/field-error.js';
import { ruleAllows, type PolicyRule } from '../../machinery/policy-rule.js';
import { nodeOf, nodeUserPrefix } from '../../machinery/user-info.js';
import {
  noOpinion,
  noRules,
  type Authorization,
  type AuthorizationAttributes,
  type Authorizer,
} from '../authorizer.js';
import type { Clock } from '../../std/clock.js';
import { YieldTimer } from '../../std/yield-timer.js';
import type { NodeRelations, RelatedKind } from '../node/node-relations.js';

type Answer = Authorization | Promise<Authorization>;
type Rule = (node: string, attributes: AuthorizationAttributes) => Answer;

const allowed: Authorization = { decision: 'allow', reason: '' };
const refused = (reason: string): Authorization => ({ decision: 'no opinion', reason });
const written: readonly string[] = ['get', 'create', 'update', 'patch', 'delete'];
const read: readonly string[] = ['get', 'list', 'watch'];

interface Dependencies {
  readonly relations: Pick<NodeRelations, 'areRelated'>;
  /** Rules for the resources that are not restricted by node. */
  readonly rules: readonly PolicyRule[];
  readonly naming: NamingProfile;
  readonly clock: Clock;
}

/**
 * Allows nodes (`system:node:<name>` in system:nodes) the access that a kubelet needs: to objects that concern the node,
 * and to some resources as a whole. The admission plug-in NodeRestriction checks the contents of its writes.
 */
export class NodeAuthorizer implements Authorizer {
  readonly name = 'Node';
  private readonly byResource: ReadonlyMap<string, Rule>;

  constructor(private readonly dependencies: Dependencies) {
    this.byResource = new Map(Object.entries(this.restrictedResources()));
  }

  authorize(attributes: AuthorizationAttributes): Answer {
    const { user } = attributes;
    const node = nodeOf(user);
    if (node === undefined || !user.name.startsWith(nodeUserPrefix)) return noOpinion;
    if (node === '') return refused(`unknown node for user ${goQuote(user.name)}`);
    if (attributes.isResourceRequest) {
      const rule = this.byResource.get(`${attributes.group}/${attributes.resource}`);
      if (rule) return rule(node, attributes);
    }
    return this.dependencies.rules.some((rule) => ruleAllows(rule, attributes)) ? allowed : noOpinion;
  }

  /** Its rules depend on objects, so they cannot be listed. */
  rulesFor() {
    return noRules;
  }

  private restrictedResources(): Readonly<Record<string, Rule>> {
    const { naming } = this.dependencies;
    const resource = naming.group('resource');
    const storage = naming.group('storage');
    return {
      '/secrets': (node, asked) => this.reads(node, 'secret', asked),
      '/configmaps': (node, asked) => this.reads(node, 'configMap', asked),
      '/persistentvolumeclaims': (node, asked) => this.claim(node, asked),
      '/persistentvolumes': (node, asked) => this.gets(node, 'volume', asked),
      '/serviceaccounts': (node, asked) => this.serviceAccount(node, asked),
      '/nodes': ownNode,
      '/pods': (node, asked) => this.pod(node, asked),
      [`${storage}/volumeattachments`]: (node, asked) => this.gets(node, 'attachment', asked),
      [`${storage}/csinodes`]: csiNode,
      [`${resource}/resourceclaims`]: (node, asked) => this.gets(node, 'resourceClaim', asked),
      [`${resource}/resourceslices`]: (node, asked) => this.resourceSlice(node, asked),
      [`${naming.group('coordination')}/leases`]: (node, asked) => this.lease(node, asked),
      [`${naming.group('certificates')}/podcertificaterequests`]: (node, asked) => this.certificateRequest(node, asked),
    };
  }

  private related(node: string, kind: RelatedKind, { namespace, name }: AuthorizationAttributes): Answer {
    if (name === '') return refused('No Object name found');
    const { relations, clock } = this.dependencies;
    const decided = (areRelated: boolean) =>
      areRelated ? allowed : refused(`no relationship found between node '${node}' and this object`);
    const areRelated = new YieldTimer(clock).run(relations.areRelated(node, kind, namespace, name));
    return typeof areRelated === 'boolean' ? decided(areRelated) : areRelated.then(decided);
  }

  private gets(node: string, kind: RelatedKind, asked: AuthorizationAttributes): Answer {
    if (asked.verb !== 'get') return refused('can only get individual resources of this type');
    if (asked.subresource !== '') return refused('cannot get subresource');
    return this.related(node, kind, asked);
  }

  private reads(node: string, kind: RelatedKind, asked: AuthorizationAttributes): Answer {
    if (!read.includes(asked.verb)) return refused('can only read resources of this type');
    if (asked.subresource !== '') return refused('cannot read subresource');
    if (asked.namespace === '') return refused('can only read namespaced object of this type');
    return this.related(node, kind, asked);
  }

  private claim(node: string, asked: AuthorizationAttributes): Answer {
    if (asked.subresource !== 'status') return this.gets(node, 'claim', asked);
    if (asked.verb !== 'update' && asked.verb !== 'patch') return refused('can only get/update/patch this type');
    return this.related(node, 'claim', asked);
  }

  private serviceAccount(node: string, asked: AuthorizationAttributes): Answer {
    const { verb, subresource, name } = asked;
    if (verb === 'get' && subresource === '') return this.related(node, 'serviceAccount', asked);
    if (verb !== 'create' || name === '') return refused('can only create tokens for individual service accounts');
    if (subresource !== 'token') return refused('can only create token subresource of serviceaccount');
    return this.related(node, 'serviceAccount', asked);
  }

  private pod(node: string, asked: AuthorizationAttributes): Answer {
    const { verb, subresource, name } = asked;
    if (subresource === 'status') return verb === 'update' || verb === 'patch' ? allowed : noOpinion;
    if (subresource === 'eviction') return verb === 'create' ? allowed : noOpinion;
    if (subresource !== '') return noOpinion;
    if (verb === 'create' || verb === 'delete') return allowed;
    if (verb === 'get') return this.gets(node, 'pod', asked);
    if (!read.includes(verb)) return noOpinion;
    if (selectsNode(asked, node)) return allowed;
    return name === ''
      ? refused('can only list/watch pods with spec.nodeName field selector')
      : this.related(node, 'pod', asked);
  }

  private resourceSlice(node: string, asked: AuthorizationAttributes): Answer {
    if (asked.subresource !== '') return refused('cannot authorize ResourceSlice subresources');
    switch (asked.verb) {
      case 'create':
        return allowed;
      case 'get':
      case 'update':
      case 'patch':
      case 'delete':
        return this.related(node, 'resourceSlice', asked);
      case 'list':
      case 'watch':
      case 'deletecollection':
        return selectsNode(asked, node)
          ? allowed
          : refused('can only list/watch/deletecollection resourceslices with nodeName field selector');
      default:
        return refused('only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection'); // prettier-ignore
    }
  }

  private lease(node: string, { verb, namespace, name }: AuthorizationAttributes): Authorization {
    const leases = this.dependencies.naming.systemNamespace('node-lease');
    if (!written.includes(verb)) return refused('can only get, create, update, patch, or delete a node lease');
    if (namespace !== leases) return refused(`can only access leases in the ${goQuote(leases)} system namespace`);
    // The name of a created object is not known yet; NodeRestriction checks it.
    return verb === 'create' || name === node
      ? allowed
      : refused('can only access node lease with the same name as the requesting node');
  }

  private certificateRequest(node: string, asked: AuthorizationAttributes): Answer {
    if (asked.subresource !== '') return refused('nodes may not access the status of PodCertificateRequests');
    if (asked.verb === 'create') return allowed;
    if (asked.verb === 'get') return this.related(node, 'certificateRequest', asked);
    if (!read.includes(asked.verb)) return refused('can only create, get, list and watch PodCertificateRequests');
    return selectsNode(asked, node)
      ? allowed
      : refused('can only list/watch podcertificaterequests with nodeName field selector');
  }
}

function ownNode(node: string, { verb, subresource, name }: AuthorizationAttributes): Authorization {
  if (subresource === 'status') return verb === 'update' || verb === 'patch' ? allowed : noOpinion;
  if (subresource !== '') return noOpinion;
  if (verb === 'create' || verb === 'update' || verb === 'patch') return allowed;
  if (!read.includes(verb)) return noOpinion;
  if (name === node) return allowed;
  return refused(
    name === ''
      ? `node '${node}' cannot read all nodes, only its own Node object`
      : `node '${node}' cannot read '${name}', only its own Node object`,
  );
}

function csiNode(node: string, { verb, subresource, name }: AuthorizationAttributes): Authorization {
  if (!written.includes(verb)) return refused('can only get, create, update, patch, or delete a CSINode');
  if (subresource !== '') return refused('cannot authorize CSINode subresources');
  return verb === 'create' || name === node
    ? allowed
    : refused('can only access CSINode with the same name as the requesting node');
}

/** True if the request selects the objects of the node by field. */
function selectsNode({ fieldSelector }: AuthorizationAttributes, node: string): boolean {
  return fieldSelector?.requiresExact('spec.nodeName') === node;
}
