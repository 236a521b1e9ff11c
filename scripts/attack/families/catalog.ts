import { fillBytes, type AttackPlan, type Family, type HostileRequest, type Requests } from '../attack.js';
import { bodyAs, type BodyEncoding } from '../bodies.js';
import { entryStyles, type EntryStyle } from '../entries.js';
import { containersOf, type Container } from '../field-walk.js';
import { filledObject } from '../fill.js';
import { beyondValues } from '../requests.js';
import { attackedKinds, objectOf, type AttackedKind } from '../templates.js';

/** Lists and maps that once held the event loop for seconds, by resource. */
const known: Readonly<Record<string, readonly string[]>> = {
  pods: [
    'spec.topologySpreadConstraints',
    'spec.containers',
    'metadata.ownerReferences',
    'metadata.finalizers',
    'metadata.labels',
    'metadata.managedFields',
    'spec.tolerations',
    'spec.volumes',
    'spec.containers[].env',
    'spec.containers[].ports',
    'spec.containers[].volumeMounts',
    'spec.hostAliases',
    'spec.schedulingGates',
    'spec.resourceClaims',
    'spec.imagePullSecrets',
    'spec.nodeSelector',
  ],
  certificatesigningrequests: ['spec.usages', 'spec.groups', 'spec.extra', 'status.conditions'],
  services: ['spec.ports', 'spec.externalIPs', 'spec.loadBalancerSourceRanges', 'spec.clusterIPs'],
  endpointslices: ['endpoints', 'ports', 'endpoints[].addresses'],
  endpoints: ['subsets', 'subsets[].addresses', 'subsets[].ports'],
  csinodes: ['spec.drivers', 'spec.drivers[].topologyKeys'],
  storageclasses: ['allowedTopologies', 'allowedTopologies[].matchLabelExpressions', 'mountOptions', 'parameters'],
  runtimeclasses: ['scheduling.tolerations', 'scheduling.nodeSelector', 'overhead.podFixed'],
  flowschemas: ['spec.rules', 'spec.rules[].resourceRules', 'spec.rules[].subjects'],
  clusterroles: ['rules', 'rules[].verbs', 'aggregationRule.clusterRoleSelectors'],
  clusterrolebindings: ['subjects'],
  resourceslices: ['spec.devices', 'spec.devices[].attributes', 'spec.devices[].taints'],
  resourceclaims: ['spec.devices.requests', 'spec.devices.constraints', 'status.devices', 'status.reservedFor'],
  customresourcedefinitions: ['spec.versions', 'spec.names.shortNames', 'spec.versions[].additionalPrinterColumns'],
  validatingwebhookconfigurations: ['webhooks', 'webhooks[].rules', 'webhooks[].matchConditions'],
  validatingadmissionpolicies: ['spec.validations', 'spec.variables', 'spec.matchConditions'],
  networkpolicies: ['spec.ingress', 'spec.ingress[].from', 'spec.ingress[].ports'],
  ingresses: ['spec.rules', 'spec.tls', 'spec.rules[].http.paths'],
  horizontalpodautoscalers: ['spec.metrics'],
  resourcequotas: ['spec.hard', 'spec.scopes'],
  limitranges: ['spec.limits'],
  nodes: ['spec.taints', 'spec.podCIDRs', 'status.conditions', 'status.images', 'status.addresses'],
  secrets: ['data', 'stringData'],
  configmaps: ['data', 'binaryData'],
  subjectaccessreviews: ['spec.groups', 'spec.extra'],
};

const encodings: readonly BodyEncoding[] = ['json', 'yaml', 'protobuf', 'cbor'];

/** Fills every list and map of every kind up to the limit on bodies; each pass uses another style of entries. */
export const catalogFamily: Family = {
  name: 'catalog',
  *requests(plan) {
    const done = new Set<string>();
    let count = 0;
    for (const kind of attackedKinds) {
      for (const container of containersOf(kind.struct)) {
        const isKnown = known[kind.facts.resource!.plural]?.includes(container.title) === true;
        // The same struct field in another kind is the same code, except for fields of all kinds.
        const key = `${container.holder}.${container.field.name}`;
        if (plan.isShort ? !isKnown || kind.facts.version !== 'v1' : done.has(key)) continue;
        done.add(key);
        count++;
        for (const style of stylesOf(plan, isKnown, count)) yield* attacksOn(kind, container, style, plan);
      }
    }
  },
};

function stylesOf({ isShort, round }: AttackPlan, isKnown: boolean, count: number): readonly EntryStyle[] {
  const styleAt = (at: number) => entryStyles[at % entryStyles.length]!;
  if (isShort) return [styleAt(count)];
  // Advances so that every field has had every style after as many passes as there are styles.
  return isKnown ? [0, 1, 2].map((more) => styleAt(count + 3 * round + more)) : [styleAt(count + 2 * round)];
}

/** Creates the object, updates it with its entries in reverse order, and deletes it. */
function* attacksOn(kind: AttackedKind, container: Container, style: EntryStyle, plan: AttackPlan): Requests {
  const { rng, isShort, round } = plan;
  const object = objectOf(kind);
  const name = (object['metadata'] as { name: string }).name;
  const encoding = round === 0 && !isShort ? 'json' : encodings[rng.below(encodings.length)]!;
  // YAML is longer than the JSON of the same object.
  const bytes = encoding === 'yaml' ? Math.floor(fillBytes * 0.6) : fillBytes;
  const fill = () => filledObject(object, container, { style, bytes });
  const { text, entries } = !isShort && rng.below(8) === 0 ? beyondValues(fill) : fill();
  const validation = ['Strict', 'Warn', 'Ignore'][rng.below(3)]!;
  const query = `?fieldValidation=${validation}${kind.isDryRun ? '&dryRun=All' : ''}`;
  const body = bodyAs(encoding, text);
  if (!body || body.bytes.length > fillBytes + 4000) return;
  const about = `${kind.title} ${container.title} × ${entries} ${style} (${encoding})`;
  const sent: HostileRequest = {
    about,
    method: 'POST',
    path: kind.collection + query,
    headers: { 'content-type': body.mediaType },
    body: body.bytes,
    // kube-apiserver also answers 500 if a Service requests more node ports than the range has.
    ...(kind.facts.resource!.plural === 'services' && { mayFailWith: [500], failureText: 'range is full' }),
  };
  const created = yield sent;
  if (created.code !== 201 || kind.isDryRun) return;
  const other = filledObject(object, container, { style, isReversed: true });
  const again = bodyAs('json', other.text)!;
  const named = `${kind.collection}/${name}`;
  yield {
    ...sent,
    about: `${about} put reversed`,
    method: 'PUT',
    path: named + query,
    headers: { 'content-type': again.mediaType },
    body: again.bytes,
  };
  yield { about: `${about} deleted`, method: 'DELETE', path: `${named}?gracePeriodSeconds=0` };
  yield {
    about: `${about} freed`,
    method: 'PATCH',
    path: named,
    headers: { 'content-type': 'application/merge-patch+json' },
    body: Buffer.from('{"metadata":{"finalizers":null}}'),
  };
}
