//! Threads: those that are started, and tasks that code outside runs in threads of its own.

use super::outside::STREAMS;
use super::{
    Call, CallId, Doubt, Holder, ITERATED, JavaObject, Key, ObjectId, Origin, SUBMITTED, Site,
    Solver, ThreadKind, Use, is_reference, types_of_parameters,
};
use crate::class::{HandleKind, InvokeKind, JavaMember};
use crate::frames::Definition;
use crate::library::{Control, Effect, Gives};
use crate::world::{MemberId, Resolution};

/// What tasks have to be run by, with the types of the methods.
const TASKS: [(&str, &str); 3] =
    [("run", "()V"), ("call", "()Ljava/lang/Object;"), ("get", "()Ljava/lang/Object;")];

impl Solver<'_> {
    pub(super) fn run(&self) -> JavaMember {
        JavaMember {
            class: self.known.object,
            name: self.known.run,
            descriptor: self.known.nothing,
        }
    }

    /// Whether a call does what its line says of threads: what runs tasks is no object of the program, and
    /// is not told how to make threads or what to do with tasks that it does not take; what is waited for is
    /// a task that was given to such a thing.
    pub(super) fn is_as_said(
        &self,
        call: CallId,
        object: Option<ObjectId>,
        effect: Effect,
    ) -> bool {
        let Call { how, member, .. } = self.calls[call];
        let of = object.map(|object| self.found.objects[object]);
        let types = types_of_parameters(self.text(member.descriptor));
        let passed = types.iter().filter(|one| is_reference(one)).count();
        let own = |name: &str| types.iter().any(|one| one.ends_with(name));
        match effect.control {
            Some(control) if control.submits() => match (of, how) {
                (None, InvokeKind::Static) => passed == 1,
                (Some(of), _) => {
                    of.class.is_none()
                        && !matches!(of.site, Site::Lambda(..))
                        && !own("ForkJoinTask;")
                }
                (None, _) => false,
            },
            Some(Control::Gets) => of.is_some_and(|of| {
                let Site::Given(method, at) = of.site else { return false };
                let given = self.calls_at.get(&(method, at));
                given.is_some_and(|&one| {
                    let effects = self.reached_by[one].library.values();
                    effects.flatten().any(|one| one.control.is_some_and(Control::submits))
                })
            }),
            // Streams that may go on in other threads, or that come from code of which nothing is known.
            None if self.text(member.class).starts_with(STREAMS)
                && (effect.hands || effect.asks) =>
            {
                let known = |of: JavaObject| match of.site {
                    Site::Given(method, at) => {
                        let given = self.calls_at.get(&(method, at));
                        given.is_some_and(|&one| {
                            self.reached_by[one].library.values().all(|effect| effect.is_some())
                        })
                    }
                    Site::Passed(..) | Site::Named(_) => false,
                    _ => true,
                };
                !self.has_parallel && of.is_none_or(known)
            }
            // With a number, above which it works in other threads.
            None if effect.hands => types.first().is_none_or(|first| first != "J"),
            _ if self.text(member.class) == "java/util/concurrent/Executors" => passed == 0,
            _ => !own("ThreadFactory;") && !own("RejectedExecutionHandler;"),
        }
    }

    /// Code outside runs what it is passed, in threads of its own.
    pub(super) fn submits(&mut self, call: CallId, object: Option<ObjectId>, effect: Effect) {
        let Some(control) = effect.control.filter(|one| one.submits()) else { return };
        let Call { caller, at, member, how, .. } = self.calls[call];
        let timed = types_of_parameters(self.text(member.descriptor)).len() > 1;
        self.found.interrupts |= control == Control::SubmitsAll && timed;
        let operands = self.calls[call].operands.clone();
        let tasks = self.node(Holder::Operand(caller, at, SUBMITTED));
        for &node in operands.iter().skip(usize::from(how != InvokeKind::Static)).flatten() {
            self.copy(node, tasks, None);
            if control == Control::SubmitsAll {
                self.add_use(node, Use::Load(Key::Held, tasks));
                let all = self.node(Holder::Operand(caller, at, ITERATED));
                self.copy(all, tasks, None);
            }
        }
        // What a call of a class gives back stands for the thread.
        let name = self.mutable_type(self.calls[call].gives).unwrap_or(self.known.object);
        let given = self.object(Site::Given(caller, at), name);
        let executor = object.unwrap_or(given);
        let held = self.node(Holder::Held(executor));
        self.copy(tasks, held, None);
        // What it was made with may hold what is waiting.
        self.add_use(held, Use::Store(Key::Held, tasks));
        if control == Control::SubmitsAll {
            let results = self.node(Holder::Held(given));
            self.give(results, given);
        }
        self.add_use(tasks, Use::Submitted(call, executor));
    }

    /// Functions that are kept to be called by other calls, and such calls.
    pub(super) fn keeps(&mut self, call: CallId, object: Option<ObjectId>, effect: Effect) {
        let Call { caller, at, gives, .. } = self.calls[call];
        if effect.keeps {
            let name = self.mutable_type(gives).unwrap_or(self.known.object);
            let given = match object.filter(|_| effect.gives == Gives::Receiver) {
                Some(object) => object,
                None => self.object(Site::Given(caller, at), name),
            };
            let kept = self.node(Holder::Captured(given, 0));
            for node in self.calls[call].operands.clone().into_iter().flatten() {
                self.copy(node, kept, None);
            }
        }
        if let (true, Some(object)) = (effect.asks, object) {
            let kept = self.node(Holder::Captured(object, 0));
            self.add_use(kept, Use::Handed(call));
            // What a function has made for a thread is given again.
            if let Some(result) = self.calls[call].result.filter(|_| effect.gives == Gives::Held) {
                let held = self.node(Holder::Held(object));
                self.copy(result, held, None);
            }
        }
    }

    /// An object that code outside runs in a thread of its own.
    pub(super) fn submitted(&mut self, call: CallId, executor: ObjectId, task: ObjectId) {
        if self.lambdas.contains_key(&task) {
            self.task(call, Origin::Task(executor), task);
            return;
        }
        let Some(class) = self.found.objects[task].class else {
            if self.runs_what_it_holds(task) {
                let held = self.node(Holder::Held(task));
                self.add_use(held, Use::Submitted(call, executor));
            }
            return;
        };
        let mut runs = false;
        for (name, descriptor) in TASKS {
            let names = &self.world.names;
            let (Some(name), Some(descriptor)) = (names.find(name), names.find(descriptor)) else {
                continue;
            };
            let member = JavaMember { class: self.known.object, name, descriptor };
            if let Ok(entry) = self.select(class, member) {
                self.start(call, Origin::Task(executor), entry, Some(task));
                runs = true;
            }
        }
        // A thread runs what it was made with; of others unknown code knows what to do.
        if self.runs_what_it_holds(task) {
            let held = self.node(Holder::Held(task));
            self.add_use(held, Use::Submitted(call, executor));
        } else if !runs {
            let pool = self.node(Holder::Pool);
            self.give(pool, task);
        }
    }

    pub(super) fn control(&mut self, call: CallId, object: ObjectId, effect: Effect) {
        match effect.control {
            Some(Control::Starts) => {
                let run = self.run();
                let class = self.found.objects[object].class;
                if let Some(Ok(entry)) = class.map(|class| self.select(class, run)) {
                    self.start(call, Origin::Started(object), entry, Some(object));
                } else {
                    let held = self.node(Holder::Held(object));
                    self.add_use(held, Use::Task(call, Origin::Started(object)));
                }
            }
            Some(Control::Runs) => {
                let held = self.node(Holder::Held(object));
                self.add_use(held, Use::Run(call));
            }
            _ => {}
        }
    }

    /// Threads of a kind begin here.
    fn start(&mut self, call: CallId, origin: Origin, entry: MemberId, this: Option<ObjectId>) {
        self.reach(entry);
        if self.world.of(entry).access.is_static() {
            self.trigger(entry.class);
        }
        let Call { caller, at, gives, .. } = self.calls[call];
        if let Origin::Started(thread) = origin {
            let threads = self.node(Holder::Threads);
            self.give(threads, thread);
        } else {
            // What a task gives back is what is got in the end.
            let name = self.mutable_type(gives).unwrap_or(self.known.object);
            let given = self.object(Site::Given(caller, at), name);
            let (from, into) = (self.node(Holder::Returned(entry)), self.node(Holder::Held(given)));
            self.copy(from, into, None);
        }
        if let Some(this) = this {
            let node = self.node(Holder::Value(entry, Definition::Parameter(0)));
            self.give(node, this);
        }
        let kind = ThreadKind { origin, entry: Some(entry), this };
        self.found.kinds.insert(kind);
        self.found.starts.entry(kind).or_default().insert((caller, at));
    }

    /// An object that a thread may have been given to run.
    pub(super) fn task(&mut self, call: CallId, origin: Origin, task: ObjectId) {
        if let Some(lambda) = self.lambdas.get(&task) {
            let (handle, captured) = (lambda.handle, lambda.captured);
            let Resolution::Found(entry) = self.world.method(handle.member) else {
                let Call { caller, at, .. } = self.calls[call];
                self.found.doubts.insert(Doubt::Lambda(caller, at));
                return;
            };
            if self.world.of(entry).body.is_none() || handle.kind == HandleKind::New {
                let Call { caller, at, .. } = self.calls[call];
                self.found.doubts.insert(Doubt::Lambda(caller, at));
                return;
            }
            // A method reference may mean what a subclass has.
            let overridden = matches!(
                handle.kind,
                HandleKind::Invoke(InvokeKind::Virtual | InvokeKind::Interface)
            ) && !self.world.of(entry).access.is_private();
            if overridden && captured > 0 {
                let receiver = self.node(Holder::Captured(task, 0));
                self.add_use(receiver, Use::TaskHandle(call, origin, task));
                return;
            }
            self.capture(task, entry, captured);
            self.start(call, origin, entry, None);
            return;
        }
        let run = self.run();
        let class = self.found.objects[task].class;
        if let Some(Ok(entry)) = class.map(|class| self.select(class, run)) {
            self.start(call, origin, entry, Some(task));
        } else if self.runs_what_it_holds(task) {
            let held = self.node(Holder::Held(task));
            self.add_use(held, Use::Task(call, origin));
        }
    }

    /// What a lambda has captured becomes the first parameters of a method.
    pub(super) fn capture(&mut self, lambda: ObjectId, method: MemberId, captured: u8) {
        for one in 0..captured {
            let from = self.node(Holder::Captured(lambda, one));
            let into = self.node(Holder::Value(method, Definition::Parameter(u16::from(one))));
            self.copy(from, into, None);
        }
    }

    /// A thread runs a method reference with this receiver.
    pub(super) fn task_handle(
        &mut self,
        call: CallId,
        origin: Origin,
        task: ObjectId,
        receiver: ObjectId,
    ) {
        let Some(lambda) = self.lambdas.get(&task) else { return };
        let (member, captured) = (lambda.handle.member, lambda.captured);
        let class = self.found.objects[receiver].class;
        if let Some(Ok(entry)) = class.map(|class| self.select(class, member)) {
            self.capture(task, entry, captured);
            self.start(call, origin, entry, None);
        } else {
            let Call { caller, at, .. } = self.calls[call];
            self.found.doubts.insert(Doubt::Lambda(caller, at));
        }
    }
}
