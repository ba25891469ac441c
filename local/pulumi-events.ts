/** What Pulumi's engine tells while it works, as lines for people and as numbers. */
import type { EngineEvent, StepEventMetadata } from '@pulumi/pulumi/automation/index.js';
import { elapsed } from './progress.ts';
import type { Progress } from './progress.ts';

/** Steps that change something, and how they are told when done. */
const deeds: Readonly<Record<string, string>> = {
  create: 'created',
  update: 'updated',
  delete: 'deleted',
  'create-replacement': 'created anew',
  'delete-replaced': 'deleted the old',
};

/** One operation of the engine. Give `handle` to the Automation API as `onEvent`. */
export class EventTeller {
  readonly #progress: Progress;
  readonly #total: number;
  readonly #startedAt = new Map<string, number>();
  readonly #start = Date.now();
  readonly #problems: string[] = [];
  readonly #warnings: string[] = [];
  #planned = 0;
  #done = 0;

  /** `total`: how many steps are expected; 0 when that is not known. */
  constructor(progress: Progress, total = 0) {
    this.#progress = progress;
    this.#total = total;
  }

  /** Steps that would change an object, as a preview told them. */
  get planned(): number {
    return this.#planned;
  }

  /** Errors, one line each, the object's name first. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  get warnings(): readonly string[] {
    return this.#warnings;
  }

  readonly handle = (event: EngineEvent): void => {
    if (event.resourcePreEvent) this.#began(event.resourcePreEvent.metadata, event.resourcePreEvent.planning === true);
    if (event.resOutputsEvent && event.resOutputsEvent.planning !== true) this.#ended(event.resOutputsEvent.metadata);
    if (event.diagnosticEvent) this.#diagnosed(event.diagnosticEvent);
  };

  #began(step: StepEventMetadata, planning: boolean): void {
    if (!isObject(step) || !(step.op in deeds)) return;
    this.#planned += 1;
    this.#startedAt.set(step.urn, Date.now());
    if (!planning) this.#progress.update(`${this.#count(this.#done)} ${titleOf(step.urn)} …`);
  }

  #ended(step: StepEventMetadata): void {
    const deed = deeds[step.op];
    if (!isObject(step) || deed === undefined) return;
    this.#done += 1;
    const tookMs = Date.now() - (this.#startedAt.get(step.urn) ?? Date.now());
    this.#progress.say(`${this.#count(this.#done)} ${deed} ${titleOf(step.urn)} (${(tookMs / 1000).toFixed(1)} s)`);
  }

  #diagnosed({ urn = '', message, severity, ephemeral }: NonNullable<EngineEvent['diagnosticEvent']>): void {
    const text = plain(message);
    const line = urn === '' || urn.includes('pulumi:pulumi:Stack') ? text : `${titleOf(urn)}: ${text}`;
    if (ephemeral === true) {
      this.#progress.update(`${this.#count(this.#done)} ${line} (${elapsed(Date.now() - this.#start)})`);
      return;
    }
    if (isNoise(text)) return;
    if (severity === 'error') keep(this.#problems, line);
    if (severity === 'warning') keep(this.#warnings, line);
  }

  #count(done: number): string {
    return this.#total === 0 ? `[${done}]` : `[${done}/${this.#total}]`;
  }
}

/** Without colours, and without the list that the engine makes of a single error. */
const plain = (message: string): string =>
  message
    .replaceAll(/<\{%.*?%\}>/g, '')
    .trim()
    .replace(/^(Preview failed: )?(1 error occurred:\s+\*\s*)?/, '');

const keep = (lines: string[], line: string): void => {
  if (!lines.includes(line)) lines.push(line);
};

/** What the engine says of itself, and summaries of what was told before. */
const isNoise = (text: string): boolean =>
  text.startsWith('using pulumi-resource-') || /^(update|preview|destroy|refresh) failed$/i.test(text);

/** Providers, groups and the stack are Pulumi's own. */
const isObject = (step: StepEventMetadata): boolean => step.type.startsWith('kubernetes:');

/** `Deployment reprise-system/reprise`, from `urn:pulumi:stack::project::parent$kubernetes:apps/v1:Deployment::name`. */
function titleOf(urn: string): string {
  const [type = '', name = ''] = urn.split('::').slice(2);
  return `${type.slice(type.lastIndexOf(':') + 1)} ${name}`;
}
