/** WebServers and their children in one namespace of the test cluster, as a user sees them: for tests of the whole operator. */
import type { Condition, KubeObject } from '../charts/resource.ts';
import { bodyOf, eventually, type Answer, type TestApi } from './api.ts';

export interface WebServerObject extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly uid: string; readonly generation: number };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: {
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly observedGeneration?: number;
    readonly conditions?: readonly Condition[];
  };
}

export interface DeploymentObject extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly uid: string };
  readonly spec: { readonly replicas: number; readonly template: { readonly spec: PodSpec } };
}

interface PodSpec {
  readonly securityContext?: { readonly runAsUser?: number };
  readonly containers: readonly {
    readonly image: string;
    readonly ports: readonly { readonly containerPort: number }[];
    readonly volumeMounts: readonly { readonly mountPath: string }[];
  }[];
}

export interface ServiceObject extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly uid: string };
  readonly spec: {
    readonly selector: Readonly<Record<string, string>>;
    readonly ports: readonly { readonly port: number }[];
  };
}

export interface EventObject extends KubeObject {
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly regarding: { readonly name: string };
}

const mergePatch = { contentType: 'application/merge-patch+json' };

export class WebServers {
  readonly namespace: string;
  readonly #api: TestApi;

  constructor(api: TestApi, namespace: string) {
    this.#api = api;
    this.namespace = namespace;
  }

  #webServer(name = ''): string {
    return `/apis/webserver.example.com/v1/namespaces/${this.namespace}/webservers/${name}`;
  }

  #deployment(name = ''): string {
    return `/apis/apps/v1/namespaces/${this.namespace}/deployments/${name}`;
  }

  #service(name = ''): string {
    return `/api/v1/namespaces/${this.namespace}/services/${name}`;
  }

  /** Writes a whole object, sample or not, into the namespace. */
  async create(object: object): Promise<WebServerObject> {
    return bodyOf(await this.#api.request<WebServerObject>('POST', this.#webServer(), object));
  }

  make(name: string, spec: object = { replicas: 1 }): Promise<WebServerObject> {
    return this.create({ apiVersion: 'webserver.example.com/v1', kind: 'WebServer', metadata: { name }, spec });
  }

  async get(name: string): Promise<WebServerObject> {
    return bodyOf(await this.#api.request<WebServerObject>('GET', this.#webServer(name)));
  }

  async patchSpec(name: string, spec: object): Promise<WebServerObject> {
    return bodyOf(await this.#api.request<WebServerObject>('PATCH', this.#webServer(name), { spec }, mergePatch));
  }

  /** As `kubectl scale` does. */
  async scale(name: string, replicas: number): Promise<void> {
    bodyOf(await this.#api.request('PATCH', `${this.#webServer(name)}/scale`, { spec: { replicas } }, mergePatch));
  }

  async scaleOf(name: string): Promise<{
    readonly spec: { readonly replicas: number };
    readonly status: { readonly replicas: number; readonly selector: string };
  }> {
    return bodyOf(await this.#api.request('GET', `${this.#webServer(name)}/scale`));
  }

  async remove(name: string): Promise<void> {
    bodyOf(await this.#api.request('DELETE', this.#webServer(name)));
  }

  deployment(name: string): Promise<Answer<DeploymentObject>> {
    return this.#api.request('GET', this.#deployment(name));
  }

  service(name: string): Promise<Answer<ServiceObject>> {
    return this.#api.request('GET', this.#service(name));
  }

  async createDeployment(object: object): Promise<DeploymentObject> {
    return bodyOf(await this.#api.request<DeploymentObject>('POST', this.#deployment(), object));
  }

  async patchDeployment(name: string, patch: object): Promise<DeploymentObject> {
    return bodyOf(await this.#api.request<DeploymentObject>('PATCH', this.#deployment(name), patch, mergePatch));
  }

  async patchService(name: string, patch: object): Promise<ServiceObject> {
    return bodyOf(await this.#api.request<ServiceObject>('PATCH', this.#service(name), patch, mergePatch));
  }

  async removeDeployment(name: string): Promise<void> {
    bodyOf(await this.#api.request('DELETE', this.#deployment(name)));
  }

  async removeService(name: string): Promise<void> {
    bodyOf(await this.#api.request('DELETE', this.#service(name)));
  }

  /** The Deployment, once it is so. */
  async eventualDeployment(
    name: string,
    isSo: (deployment: DeploymentObject) => boolean,
    timeoutMs = 20_000,
  ): Promise<DeploymentObject> {
    const found = await eventually(
      () => this.deployment(name),
      ({ status, body }) => status === 200 && isSo(body),
      timeoutMs,
    );
    return found.body;
  }

  async eventualService(name: string, isSo: (service: ServiceObject) => boolean): Promise<ServiceObject> {
    const found = await eventually(
      () => this.service(name),
      ({ status, body }) => status === 200 && isSo(body),
      20_000,
    );
    return found.body;
  }

  /** Resolves when that many replicas are ready, the status is about the present spec, and nothing is under way. */
  ready(name: string, replicas: number): Promise<WebServerObject> {
    return eventually(
      () => this.get(name),
      (web) =>
        web.status?.readyReplicas === replicas &&
        web.status.observedGeneration === web.metadata.generation &&
        conditionOf(web, 'Available')?.status === 'True' &&
        conditionOf(web, 'Progressing')?.status === 'False',
      30_000,
    );
  }

  async events(name: string): Promise<readonly EventObject[]> {
    const path = `/apis/events.k8s.io/v1/namespaces/${this.namespace}/events`;
    const list = bodyOf(await this.#api.request<{ items: EventObject[] }>('GET', path));
    return list.items.filter(
      ({ regarding, reportingController }) =>
        regarding.name === name && reportingController === 'reprise.dev/webserver',
    );
  }
}

export const conditionOf = (web: WebServerObject, type: string): Condition | undefined =>
  web.status?.conditions?.find((condition) => condition.type === type);

export const containerOf = (deployment: DeploymentObject) => {
  const [container] = deployment.spec.template.spec.containers;
  if (container === undefined) throw new Error(`${deployment.metadata.name} has no container`);
  return container;
};
