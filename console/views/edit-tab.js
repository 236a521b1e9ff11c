import { comparable, editable, formats } from '../model/editable-text.js';
import { firstHidden } from '../model/hidden-characters.js';
import { diffElement } from '../ui/diff.js';
import { announce, fill, h } from '../ui/dom.js';
import { TextEditor } from '../ui/text-editor.js';

/** Edits an object of the server. */
export function editTab({ connection, context, path, object }) {
  const editor = objectEditor({
    connection,
    drafts: context.session.drafts,
    method: 'PUT',
    path,
    read: async (format) => editable(await connection.text(`${path}?pretty=true`, { accept: format.type }), format),
  });
  editor.update(object);
  return editor;
}

/**
 * Edits an object as the server prints it, in YAML or JSON. "Review" sends the text as a dry run, and shows what would be
 * stored, defaults and admission included; "Save" stores it. Texts go to the server as they are: it parses them.
 * `read(format)` returns the text to begin with. A changed text is in `drafts` until it is saved or discarded, so that it is
 * there again after other tabs, views, or a login.
 */
export function objectEditor({ connection, drafts, method, path, read }) {
  const draftKey = `${method} ${path}`;
  const isNew = method === 'POST';
  let format = formats.yaml;
  let base = '';
  /** The format of base: another one may be chosen and not yet be read. */
  let baseFormat = format;
  let isReviewed = false;
  let isLoading = false;
  let warnings = [];
  const editor = new TextEditor({
    label: 'Object',
    changed: () => {
      setReviewed(false);
      noteDraft();
    },
    pressed: (event) => pressed(event),
  });
  const result = h('div', { class: 'edit-result', 'aria-live': 'polite' });
  const stale = h('p', { class: 'notice', hidden: true });
  const hiddenNotice = h('p', { class: 'notice', hidden: true });
  const review = h('button', { type: 'button', class: 'button', onclick: () => void reviewed() }, 'Review changes');
  const save = h(
    'button',
    { type: 'button', class: 'button primary', disabled: true, onclick: () => void saved() },
    isNew ? 'Create' : 'Save',
  );
  const reload = h('button', { type: 'button', class: 'button', onclick: () => void load() }, 'Reload');
  const choice = h(
    'select',
    {
      'aria-label': 'Format',
      onchange: () => {
        format = formats[choice.value];
        void load();
      },
    },
    Object.entries(formats).map(([value, { label }]) => h('option', { value }, label)),
  );

  const setReviewed = (value) => {
    isReviewed = value;
    save.disabled = !value;
  };
  const noteDraft = () => {
    const isChanged = editor.isOtherThan(base);
    // The other format is read from the server, which would lose the changes.
    choice.disabled = isChanged;
    if (isChanged) drafts.set(draftKey, { formatName: choice.value, base, text: () => editor.value });
    else drafts.delete(draftKey);
  };
  const setText = (text) => {
    base = text;
    baseFormat = format;
    const found = firstHidden(text);
    hiddenNotice.hidden = found === undefined;
    if (found)
      hiddenNotice.textContent = `The text has characters that are not visible: ${found.escape} in line ${found.line}.`;
    editor.value = text;
    noteDraft();
    stale.hidden = true;
    setReviewed(false);
  };
  const warningElements = () => warnings.map((text) => h('p', { class: 'notice' }, `Warning: ${text}`));
  const send = async (query) =>
    editable(
      await connection.text(`${path}?${query}`, {
        method,
        body: editor.value,
        contentType: format.type,
        accept: format.type,
        warned: (texts) => (warnings = texts),
      }),
      format,
    );
  const failed = (error, isWrite = false) => {
    setReviewed(false);
    const advice =
      error.status === 409 && !isNew
        ? ' Someone else has changed the object: reload it, then make your change again.'
        : error.isUnanswered && isWrite
          ? ' It is not known whether the text was stored: review it again when the server answers.'
          : '';
    fill(result, h('p', { class: 'problem', role: 'alert' }, `${error.message}${advice}`));
  };
  const setStale = (what) => {
    stale.textContent = `The object ${what}. Saving this text would be refused; reload it first.`;
    stale.hidden = false;
  };
  const load = async ({ keepsChanges = false } = {}) => {
    isLoading = true;
    const asked = format;
    try {
      const text = await read(asked);
      if (asked !== format) return;
      if (keepsChanges && editor.isOtherThan(base)) return setStale('has changed on the server');
      setText(text);
      fill(
        result,
        h('p', { class: 'hint' }, 'Change the text, then review what the server would store. Ctrl+Enter reviews.'),
      );
    } catch (error) {
      failed(error);
    } finally {
      isLoading = false;
    }
  };
  const reviewed = async () => {
    review.disabled = true;
    const sent = editor.value;
    try {
      const after = await send('dryRun=All&fieldValidation=Strict&fieldManager=keelson-console&pretty=true');
      const present = isNew ? '' : await read(format);
      fill(
        result,
        warningElements(),
        h('h3', {}, 'What would be stored'),
        await diffElement(comparable(present, format), comparable(after, format), 'Changes'),
      );
      if (editor.isOtherThan(sent)) return;
      setReviewed(true);
      announce('Reviewed. Save stores the changes.');
    } catch (error) {
      failed(error);
    } finally {
      review.disabled = false;
    }
  };
  const saved = async () => {
    if (!isReviewed) return;
    save.disabled = true;
    editor.readOnly = true;
    try {
      setText(await send('fieldValidation=Strict&fieldManager=keelson-console&pretty=true'));
      fill(result, h('p', { class: 'success', role: 'status' }, isNew ? 'Created.' : 'Saved.'), warningElements());
    } catch (error) {
      failed(error, true);
    } finally {
      editor.readOnly = false;
    }
  };
  const pressed = (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void reviewed();
    else if (event.key === 's' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void saved();
    }
  };
  const draft = drafts.get(draftKey);
  if (draft) {
    format = formats[draft.formatName];
    choice.value = draft.formatName;
    setText(draft.base);
    editor.value = draft.text();
    noteDraft();
    fill(result, h('p', { class: 'hint', role: 'status' }, 'This is your unsaved text. Reload discards it.'));
  } else void load();
  return {
    element: h(
      'div',
      { class: 'column' },
      h('div', { class: 'toolbar' }, choice, h('span', { class: 'spacer' }), reload, review, save),
      stale,
      hiddenNotice,
      editor.elements,
      result,
    ),
    update: (object) => {
      if (base === '') return isLoading ? undefined : void load();
      const { uid, resourceVersion } = object.metadata ?? {};
      const known = baseFormat.identity(base);
      // A state that was read before a save of this editor may come after it.
      if (uid === known.uid && Number(resourceVersion) <= Number(known.resourceVersion)) return;
      if (!editor.isOtherThan(base)) return void load({ keepsChanges: true });
      setStale(uid === known.uid ? 'has changed on the server' : 'has been deleted and created again');
    },
  };
}
