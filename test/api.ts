/**
 * Plain requests to the test cluster's API server, for arranging and asserting in cluster tests. Deliberately not the operator's own
 * client: a test that uses the code under test as its eyes can be blind with it.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';

/** What the server answered: also 4xx and 5xx are answers, never exceptions. */
export interface Answer<Body = AnyObject> {
  readonly status: number;
  readonly body: Body;
  /** `Warning` headers, for strict checks. */
  readonly warnings: readonly string[];
}

/** An object of the API of which nothing is known; name its fields by the type parameter of `request`. */
export type AnyObject = Readonly<Record<string, unknown>>;

export interface RequestOptions {
  /** @default application/json */
  readonly contentType?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent instead of the client certificate. */
  readonly token?: string;
}

export interface TestApi {
  readonly server: string;
  /** `Body` is what the test expects to find in the answer; nothing checks it. */
  request<Body extends object = AnyObject>(
    method: string,
    path: string,
    body?: unknown,
    options?: RequestOptions,
  ): Promise<Answer<Body>>;
  /** A fresh namespace of its own; gives its name. The cluster is thrown away as a whole, so nobody deletes it. */
  namespace(): Promise<string>;
  /** Creates the CRD, or replaces its spec when it is there, and waits until its resources are served. Throws with the server's reason. */
  establish(crd: object): Promise<void>;
  close(): void;
}

interface Connection {
  readonly server: string;
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** The cluster that the global set-up started: its kubeconfig's path is in REPRISE_TEST_KUBECONFIG. */
export function testApi(kubeconfig = process.env['REPRISE_TEST_KUBECONFIG']): TestApi {
  if (!kubeconfig)
    throw new Error('REPRISE_TEST_KUBECONFIG is not set: run cluster tests with jest --selectProjects cluster');
  const connection = connectionOf(kubeconfig);
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 16,
    ca: connection.ca,
    cert: connection.cert,
    key: connection.key,
  });
  const withToken = new Agent({ keepAlive: true, ca: connection.ca });
  const request: TestApi['request'] = <Body>(
    method: string,
    path: string,
    body?: unknown,
    options: RequestOptions = {},
  ) =>
    send<Body>(
      { agent: options.token === undefined ? agent : withToken, server: connection.server },
      { method, path, body, ...options },
    );
  return {
    server: connection.server,
    request,
    namespace: () => freshNamespace(request),
    establish: (crd) => establish(request, crd),
    close: () => {
      agent.destroy();
      withToken.destroy();
    },
  };
}

/** Throws unless the answer is 2xx; gives the body. */
export function bodyOf<Body extends object>(answer: Answer<Body>): Body {
  if (answer.status >= 300)
    throw new Error(`the server answered ${answer.status}: ${JSON.stringify(answer.body).slice(0, 2000)}`);
  return answer.body;
}

/** Asks again until `check` holds, for effects that the server makes in its own time. */
export async function eventually<T>(
  ask: () => Promise<T>,
  check: (value: T) => boolean,
  timeoutMs = 10_000,
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const value = await ask();
    if (check(value)) return value;
    if (Date.now() > end)
      throw new Error(`did not come true within ${timeoutMs} ms; last seen: ${JSON.stringify(value).slice(0, 2000)}`);
    await sleep(25);
  }
}

interface Kubeconfig {
  readonly 'current-context': string;
  readonly contexts: readonly {
    readonly name: string;
    readonly context: { readonly cluster: string; readonly user: string };
  }[];
  readonly clusters: readonly { readonly name: string; readonly cluster: Readonly<Record<string, string>> }[];
  readonly users: readonly { readonly name: string; readonly user: Readonly<Record<string, string>> }[];
}

function connectionOf(kubeconfig: string): Connection {
  const config = parse(readFileSync(kubeconfig, 'utf8')) as Kubeconfig;
  const context = config.contexts.find((entry) => entry.name === config['current-context'])?.context;
  const cluster = config.clusters.find((entry) => entry.name === context?.cluster)?.cluster ?? {};
  const user = config.users.find((entry) => entry.name === context?.user)?.user ?? {};
  return {
    server: cluster['server'] ?? '',
    ca: dataOf(cluster, 'certificate-authority'),
    cert: dataOf(user, 'client-certificate'),
    key: dataOf(user, 'client-key'),
  };
}

/** A kubeconfig holds each certificate inline or as a path. */
function dataOf(entry: Readonly<Record<string, string>>, name: string): Buffer {
  const inline = entry[`${name}-data`];
  return inline === undefined
    ? readFileSync(entry[name] ?? `no ${name} in the kubeconfig`)
    : Buffer.from(inline, 'base64');
}

interface Outgoing extends RequestOptions {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

function send<Body>(to: { agent: Agent; server: string }, outgoing: Outgoing): Promise<Answer<Body>> {
  const url = new URL(outgoing.path, to.server);
  for (const [name, value] of Object.entries(outgoing.query ?? {})) url.searchParams.set(name, value);
  const payload = outgoing.body === undefined ? undefined : JSON.stringify(outgoing.body);
  const headers = {
    accept: 'application/json',
    ...(payload !== undefined && {
      'content-type': outgoing.contentType ?? 'application/json',
      'content-length': Buffer.byteLength(payload),
    }),
    ...(outgoing.token !== undefined && { authorization: `Bearer ${outgoing.token}` }),
  };
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(url, { agent: to.agent, method: outgoing.method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const warnings = [response.headers['warning'] ?? []].flat();
        resolve({
          status: response.statusCode ?? 0,
          body: decoded(Buffer.concat(chunks).toString('utf8')) as Body,
          warnings,
        });
      });
    });
    sent.on('error', reject);
    sent.end(payload);
  });
}

/** Some endpoints (healthz, metrics) answer with text. */
function decoded(text: string): AnyObject {
  return text.startsWith('{') ? (JSON.parse(text) as AnyObject) : { text };
}

async function freshNamespace(request: TestApi['request']): Promise<string> {
  const name = `test-${randomUUID().slice(0, 13)}`;
  bodyOf(await request('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));
  return name;
}

const crdsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string; readonly storage: boolean }[];
  };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[];
  };
}

async function establish(request: TestApi['request'], crd: object): Promise<void> {
  const { metadata, spec } = crd as Definition;
  const path = `${crdsPath}/${metadata.name}`;
  const created = await request('POST', crdsPath, crd);
  if (created.status === 409)
    bodyOf(await request('PATCH', path, { metadata, spec }, { contentType: 'application/merge-patch+json' }));
  else bodyOf(created);
  const { body } = await eventually(
    () => request<Definition>('GET', path),
    (answer) => isTrue(answer.body, 'Established') !== undefined,
  );
  if (isTrue(body, 'Established') !== true)
    throw new Error(`${metadata.name}: ${JSON.stringify(body.status?.conditions)}`);
  // Established is said before the endpoint serves: the first lists answer 404 or 429 for a moment.
  const version = spec.versions.find((candidate) => candidate.storage)?.name ?? '';
  await eventually(
    () => request('GET', `/apis/${spec.group}/${version}/${spec.names.plural}`, undefined, { query: { limit: '1' } }),
    (answer) => answer.status === 200,
  );
}

/** Undefined as long as the server has not judged. */
function isTrue(definition: Definition, type: string): boolean | undefined {
  const conditions = definition.status?.conditions ?? [];
  if (conditions.some((condition) => condition.type === 'NamesAccepted' && condition.status === 'False')) return false;
  return conditions.some((condition) => condition.type === type && condition.status === 'True') ? true : undefined;
}
