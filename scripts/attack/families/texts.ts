import type { AttackPlan, Family, HostileRequest, Requests } from '../attack.js';
import { bodyAs, type BodyEncoding } from '../bodies.js';
import { bytesBound, patch, post, put, remove } from '../requests.js';
import { attackedKinds, objectOf, type AttackedKind, type Json, type JsonObject } from '../templates.js';
import { longText, textShapes, usualShape, type TextShape } from '../text-shapes.js';
import { markedObject, textFieldsOf, textIn, type TextField } from '../text-walk.js';

/** Texts that are parsed, matched with patterns or looked up, by resource: they get every verb, and every shape in six passes. */
const hot: Readonly<Record<string, RegExp>> = {
  pods: new RegExp(
    `^(metadata\\.(name|generateName|namespace|labels|annotations|finalizers|ownerReferences|managedFields|creationTimestamp).*|${[
      'spec.containers\\[\\].(name|image|workingDir|env.*|ports.*|resources.(limits|requests).*|livenessProbe.httpGet.*)',
      'spec.containers\\[\\].(volumeMounts.*|lifecycle.postStart.httpGet.*|terminationMessagePath|securityContext.seLinux.*)',
      'spec.(hostname|subdomain|nodeName|schedulerName|serviceAccountName|priorityClassName|restartPolicy)',
      'spec.(securityContext.sysctls.*|nodeSelector.*|tolerations.*|hostAliases.*|dnsConfig.*|topologySpread.*|overhead.*)',
      'spec.affinity.nodeAffinity.required.*',
      'spec.volumes\\[\\].(name|configMap.*|downwardAPI.*|projected.*|csi.*|hostPath.*|nfs.*|iscsi.*|image.*)',
      'status.(podIPs.*|hostIP|conditions.*|nominatedNodeName|containerStatuses\\[\\].*resource.*)',
    ].join('|')})$`,
  ),
  services: /^spec\.(cluster|external|loadBalancer|ports|sessionAffinity$|type|selector|ipFamil)|^status/,
  endpointslices: /^(addressType|endpoints|ports)/,
  endpoints: /^subsets\[\]\.addresses/,
  ingresses: /^spec\.(rules|tls|ingressClassName)/,
  networkpolicies: /^spec\.(podSelector|ingress)/,
  cronjobs: /^spec\.(schedule|timeZone|concurrencyPolicy)|^status\./,
  jobs: /^spec\.(podFailurePolicy|successPolicy|managedBy|completionMode)|^status\./,
  deployments: /^spec\.(strategy|selector)|^status\./,
  storageclasses: /^(provisioner|mountOptions|parameters|reclaimPolicy|allowedTopologies)/,
  persistentvolumes: /^spec\.(capacity|accessModes|storageClassName|mountOptions|csi|hostPath|nodeAffinity|claimRef)/,
  persistentvolumeclaims: /^spec\.(resources|storageClassName|dataSource|selector)|^status\./,
  csidrivers: /^spec\./,
  csinodes: /^spec\./,
  volumeattachments: /^spec\.|^status\./,
  resourceslices: /^spec\.(driver|pool|nodeName|devices|sharedCounters)/,
  resourceclaims: /^spec\.|^status\./,
  deviceclasses: /^spec\./,
  certificatesigningrequests: /^spec\.|^status\./,
  podcertificaterequests: /^spec\.|^status\./,
  customresourcedefinitions:
    /^spec\.(group|names|scope|conversion|versions\[\]\.(name|additional|selectable|schema\.openAPIV3Schema\.(type|format|pattern|title|default|enum|\$ref|x-kubernetes-validations|required|properties\{key\})))/,
  validatingwebhookconfigurations: /^webhooks/,
  validatingadmissionpolicies: /^spec\./,
  validatingadmissionpolicybindings: /^spec\./,
  secrets: /^(data|stringData|type)/,
  configmaps: /^(data|binaryData)/,
  ipaddresses: /^(metadata\.name$|spec)/,
  servicecidrs: /^spec/,
  leases: /^spec/,
  clusterroles: /^(rules|aggregationRule)/,
  clusterrolebindings: /^(roleRef|subjects)/,
  horizontalpodautoscalers: /^spec\.(metrics|scaleTargetRef)/,
  poddisruptionbudgets: /^spec\./,
  resourcequotas: /^spec\./,
  limitranges: /^spec\./,
  nodes: /^spec\.(podCIDR|providerID|taints|configSource)|^status\.(addresses|capacity|conditions|images|nodeInfo)/,
  runtimeclasses: /^(handler|overhead|scheduling)/,
  priorityclasses: /^(preemptionPolicy|description)/,
  flowschemas: /^spec\./,
  apiservices: /^spec\./,
  events: /^(reason|type|involvedObject|eventTime|reportingController|firstTimestamp|action)/,
  tokenreviews: /^spec/,
  subjectaccessreviews: /^spec/,
};

/** Fields that get every shape in two passes, and the fields of the short run. */
const hottest =
  /^(metadata\.(name|labels\{key\}|annotations\{key\}|creationTimestamp|finalizers\[\])|.*(fieldPath|\.schedule|sysctls\[\]\.name|image|pool\.name|provisioner|cidrs\[\]|externalIPs\[\]|\.driver|limits\{\}|limits\{key\}|expression|\.caBundle|jsonPath|pattern|mountPath|timeZone|renewTime|maxSurge|request|podIPs\[\]\.ip|\.hostnames\[\]|roleRef\.kind))$/;

/** The hot kinds first, so that fields of a PodSpec are attacked in Pods. */
const kindsInOrder = [...attackedKinds].sort((a, b) => rankOf(a) - rankOf(b));
function rankOf({ facts: { version, resource } }: AttackedKind): number {
  const rank = version === 'v1' ? Object.keys(hot).indexOf(resource!.plural) : -1;
  return rank < 0 ? Object.keys(hot).length : rank;
}

const base = 'texted';
const encodings: readonly BodyEncoding[] = ['json', 'protobuf', 'cbor', 'yaml'];
const updates = ['put', 'mergePatch', 'jsonPatch', 'strategicPatch', 'applyPatch'] as const;
type Update = (typeof updates)[number];

/** One text of nearly 3 MiB in each field of each kind that takes a text, in many shapes and through every verb. */
export const textsFamily: Family = {
  name: 'texts',
  *requests(plan) {
    const done = new Set<string>();
    const doneHot = new Set<string>();
    let count = plan.round;
    for (const kind of kindsInOrder) {
      const target = new Target(kind);
      const { plural } = kind.facts.resource!;
      for (const field of textFieldsOf(kind.struct)) {
        // The same field in another kind is the same code, except for metadata.name and the fields of hot kinds.
        const key = field.title === 'metadata.name' ? kind.title : `${field.holder}.${field.title.split('.').at(-1)}`;
        const isHot = kind.facts.version === 'v1' && hot[plural]?.test(field.title) === true && !doneHot.has(key);
        const isKnown = done.has(key);
        done.add(key);
        if (isHot) doneHot.add(key);
        if (plan.isShort ? !isHot || !hottest.test(field.title) : isKnown && !isHot) continue;
        count++;
        yield* target.attack(field, { isHot, isHottest: hottest.test(field.title) }, count, plan);
      }
      yield* target.end();
    }
  },
};

const shapeAt = (at: number): TextShape => textShapes[at % textShapes.length]!;
/** Steps through the shapes so that each field has had all of them after as many passes. */
const stride = 19;

interface Heat {
  readonly isHot: boolean;
  readonly isHottest: boolean;
}

/** Texts in the fields of one kind. */
class Target {
  private readonly query: string;
  private isCreated: boolean | undefined;

  constructor(private readonly kind: AttackedKind) {
    this.query = kind.isDryRun ? '?dryRun=All' : '';
  }

  *attack(field: TextField, heat: Heat, count: number, { isShort, round }: AttackPlan): Requests {
    const { isHot } = heat;
    const ownShape = usualShape(field.title);
    const own = ownShape ? [ownShape] : [];
    const shapes = isShort
      ? [...own, shapeAt(count * 5)]
      : isHot
        ? [...own, ...textShapes.filter((_, at) => (at + count + round) % (heat.isHottest ? 2 : 6) === 0)]
        : [...(round === 0 ? own : []), shapeAt(count * 3 + round * stride)];
    const inStatus = field.title.startsWith('status.');
    if (!inStatus) {
      for (const [at, shape] of shapes.entries()) {
        const isOther = isHot && !isShort && (at + count) % 8 === 0;
        yield* this.create(field, shape, isOther ? encodings[((at + count) >> 3) % encodings.length]! : 'json');
      }
    }
    if (this.kind.isDryRun && inStatus) return;
    // Creation runs most of the code; hot fields and those of status are updated as well.
    if (isHot || inStatus || count % 7 === 0) yield* this.update(field, shapes, count);
  }

  *end(): Requests {
    if (this.isCreated) yield* this.remove(base);
  }

  private *create(field: TextField, shape: TextShape, encoding: BodyEncoding): Requests {
    const object = objectOf(this.kind);
    const body = bodyAs(encoding, textOf(markedObject(object, field), field, shape));
    if (!body || body.bytes.length > bytesBound() + 4000) return;
    const { collection } = this.kind;
    const created = yield {
      ...{ about: this.about(field, shape, encoding), method: 'POST', path: collection + this.query },
      ...{ headers: { 'content-type': body.mediaType }, body: body.bytes },
    };
    if (created.code === 201 && this.query === '' && !/review/.test(collection))
      yield* this.remove(nameOf(created.bytes));
  }

  private *update(field: TextField, shapes: readonly TextShape[], count: number): Requests {
    if (this.isCreated === undefined && !this.kind.isDryRun) {
      const created = yield post(`${this.kind.title} ${base}`, this.kind.collection, objectOf(this.kind, base));
      this.isCreated = created.code === 201;
    }
    for (const [at, verb] of updates.entries()) {
      // Without an object to update, only apply does more than a lookup: it creates one.
      if (!this.isCreated && verb !== 'applyPatch') continue;
      if (shapes.length < 3 && (at + count) % updates.length > 1) continue;
      yield this.updateBy(verb, field, shapes[(count + at * 7) % shapes.length]!);
    }
  }

  private updateBy(verb: Update, field: TextField, shape: TextShape): HostileRequest {
    const { collection, facts } = this.kind;
    const top = field.steps[0] as string;
    const hasStatus = top === 'status' && facts.resource!.hasStatus;
    const marked = markedObject(objectOf(this.kind, base), field);
    const part: Record<Update, Json> = {
      put: marked,
      mergePatch: { [top]: marked[top]! },
      jsonPatch: [{ op: 'add', path: `/${top}`, value: marked[top]! }],
      strategicPatch: { [top]: marked[top]! },
      applyPatch: marked,
    };
    const owner = verb === 'applyPatch' ? `${this.query === '' ? '?' : '&'}fieldManager=texts&force=true` : '';
    const path = `${collection}/${base}${hasStatus ? '/status' : ''}${this.query}${owner}`;
    const text = textOf(part[verb], field, shape);
    const about = this.about(field, shape, verb);
    return verb === 'put' ? put(about, path, text) : patch(about, path, text, verb);
  }

  private *remove(name: string): Requests {
    const path = `${this.kind.collection}/${name}`;
    yield remove(`${this.kind.title} deleted`, `${path}?gracePeriodSeconds=0`);
    yield patch(`${this.kind.title} freed`, path, '{"metadata":{"finalizers":null}}', 'mergePatch');
  }

  private about(field: TextField, shape: TextShape, how: string): string {
    return `${this.kind.title} ${field.title}: ${shape.name} (${how})`;
  }
}

/** The body: as large as the limit on bodies allows. */
function textOf(marked: Json, field: TextField, shape: TextShape): string {
  const room = bytesBound() - textIn(marked, '""').length;
  if (field.form !== 'bytes') return textIn(marked, JSON.stringify(longText(shape, room)));
  const bytes = Buffer.from(longText(shape, Math.floor(room / 4) * 3));
  return textIn(marked, JSON.stringify(bytes.toString('base64').slice(0, Math.floor(room / 4) * 4)));
}

function nameOf(answer: Buffer): string {
  return ((JSON.parse(answer.toString('utf8')) as JsonObject)['metadata'] as { name: string }).name;
}
