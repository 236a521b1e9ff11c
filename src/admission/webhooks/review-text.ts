import { stringifyJson } from '../../codec/json.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { UserInfo } from '../../machinery/user-info.js';
import { optionsOf, userInfoOf } from '../request/admission-request.js';
import type { MatchedRequest } from '../request/matched-request.js';
import type { RequestForm } from '../request/request-form.js';

interface ReviewGiven {
  readonly uid: string;
  /** `admission.k8s.io/v1` */
  readonly apiVersion: string;
  readonly form: RequestForm;
  readonly object: KubeObject | null;
  readonly oldObject: KubeObject | null;
}

/** Texts of users and forms, which many requests share. */
const userTexts = new WeakMap<UserInfo, string>();
const formTexts = new WeakMap<RequestForm, { readonly kind: string; readonly resource: string }>();

/**
 * Encodes the AdmissionReviews of one request. Webhooks that see the same state of an object in the same version share its
 * text, since encoding it costs as much as all other fields.
 */
export class ReviewTexts {
  private readonly fields = new Map<RequestForm, string>();
  private options: string | undefined;
  private object = noText;
  private oldObject = noText;

  constructor(
    private readonly request: MatchedRequest,
    private readonly naming: NamingProfile,
  ) {}

  /** Returns the AdmissionReview with the fields of admissionRequest(), in the order of kube-apiserver. */
  review({ uid, apiVersion, form, object, oldObject }: ReviewGiven): string {
    const { attributes } = this.request;
    this.object = textOf(object, this.object);
    this.oldObject = textOf(oldObject, this.oldObject);
    this.options ??= stringifyJson(optionsOf(attributes, this.naming.group('meta')));
    return (
      `{"kind":"AdmissionReview","apiVersion":${stringifyJson(apiVersion)},"request":{"uid":${stringifyJson(uid)},` +
      `${this.fieldsIn(form)},"object":${this.object.text},"oldObject":${this.oldObject.text},` +
      `"dryRun":${String(attributes.request.dryRun)},"options":${this.options}}}`
    );
  }

  private fieldsIn(form: RequestForm): string {
    let text = this.fields.get(form);
    if (text === undefined) this.fields.set(form, (text = this.encodeFields(form)));
    return text;
  }

  private encodeFields(form: RequestForm): string {
    const { attributes, namespace, requested } = this.request;
    const { name, subresource, operation } = attributes;
    const own = textsOf(form);
    const first = textsOf(requested);
    const sub = subresource === '' ? '' : stringifyJson(subresource);
    let text = `"kind":${own.kind},"resource":${own.resource},`;
    if (sub !== '') text += `"subResource":${sub},`;
    text += `"requestKind":${first.kind},"requestResource":${first.resource},`;
    if (sub !== '') text += `"requestSubResource":${sub},`;
    if (name !== '') text += `"name":${stringifyJson(name)},`;
    if (namespace !== '') text += `"namespace":${stringifyJson(namespace)},`;
    return `${text}"operation":"${operation}","userInfo":${userText(attributes.request.user)}`;
  }
}

interface ObjectText {
  readonly object: KubeObject | null;
  readonly text: string;
}

const noText: ObjectText = { object: null, text: 'null' };

function textOf(object: KubeObject | null, last: ObjectText): ObjectText {
  if (object === null) return noText;
  return last.object === object ? last : { object, text: stringifyJson(object) };
}

function userText(user: UserInfo): string {
  let text = userTexts.get(user);
  if (text === undefined) userTexts.set(user, (text = stringifyJson(userInfoOf(user))));
  return text;
}

function textsOf(form: RequestForm) {
  let texts = formTexts.get(form);
  if (!texts) {
    texts = { kind: stringifyJson(form.kind), resource: stringifyJson(form.resource) };
    formTexts.set(form, texts);
  }
  return texts;
}
