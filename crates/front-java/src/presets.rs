//! # Idea
//! Programs that a framework runs have no `main`. One is made for them: it makes one object of each class that
//! the framework makes objects of, gives them what is injected, has them set themselves up, and then starts
//! threads, any number of them, each of which calls a method that the framework calls. A test is a program of its
//! own: one object, what is to be done before, the test.
//!
//! # Source
//! By names and annotations of servlets (`javax` and `jakarta`), Spring and `JUnit` (3 to 5), each by its simple
//! name.
//!
//! # Invariants
//! 1. What is made are ordinary classes, so whatever holds of threads, order and objects holds here.
//! 2. What is set up is set up before the first call; that is assumed, and said.

use crate::class::{
    At, BranchCondition, Comparison, FieldAccess, InvokeKind, JavaAccess, JavaClass, JavaConstant,
    JavaField, JavaInstruction, JavaKind, JavaMember, JavaMethod, StackOperation,
};
use crate::names::{JavaName, JavaNames, kind_of_field, parameters_of_method};
use crate::units::annotated;
use crate::world::{ClassId, MemberId, Resolution, World};
use selvedge_base::Id;
use std::collections::{BTreeMap, BTreeSet};

/// The name of the class that stands for a framework; no class file has it.
pub const FRAMEWORK: &str = "the framework";

/// What calls the methods of a program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FrameworkPreset {
    /// A container of servlets.
    Servlet,
    /// Spring.
    Spring,
    /// `JUnit`.
    Junit,
}

/// Methods of servlets, filters and listeners that are called for requests.
const SERVLET_METHODS: [&str; 15] = [
    "doDelete",
    "doFilter",
    "doGet",
    "doHead",
    "doOptions",
    "doPatch",
    "doPost",
    "doPut",
    "doTrace",
    "requestDestroyed",
    "requestInitialized",
    "service",
    "sessionCreated",
    "sessionDestroyed",
    "valueBound",
];
/// What servlets, filters and listeners extend or implement.
const SERVLET_TYPES: [&str; 7] = [
    "Filter",
    "GenericServlet",
    "HttpServlet",
    "HttpSessionBindingListener",
    "HttpSessionListener",
    "Servlet",
    "ServletRequestListener",
];
/// Annotations of methods that Spring calls.
const SPRING_METHODS: [&str; 14] = [
    "Async",
    "DeleteMapping",
    "EventListener",
    "ExceptionHandler",
    "GetMapping",
    "JmsListener",
    "KafkaListener",
    "MessageMapping",
    "PatchMapping",
    "PostMapping",
    "PutMapping",
    "RabbitListener",
    "RequestMapping",
    "Scheduled",
];
/// Annotations of classes that Spring makes one object of.
const SPRING_CLASSES: [&str; 7] = [
    "Component",
    "Configuration",
    "Controller",
    "ControllerAdvice",
    "Repository",
    "RestController",
    "Service",
];
/// Annotations of what is injected.
const INJECTED: [&str; 4] = ["Autowired", "Inject", "PersistenceContext", "Resource"];
/// Annotations of methods that set an object up.
const SET_UP: [&str; 4] = ["Autowired", "Bean", "Inject", "PostConstruct"];
/// Names of methods that set an object up.
const SET_UP_NAMES: [&str; 3] = ["afterPropertiesSet", "contextInitialized", "init"];
/// Annotations of tests.
const TESTS: [&str; 4] = ["ParameterizedTest", "RepeatedTest", "Test", "TestFactory"];
/// Annotations of what is done before tests, for all of them first.
const BEFORE_TESTS: [&str; 4] = ["BeforeAll", "BeforeClass", "Before", "BeforeEach"];
/// Annotations of what is done after a test.
const AFTER_TESTS: [&str; 2] = ["After", "AfterEach"];

/// The world with classes that stand for frameworks, and where programs begin in it: one for all requests, and
/// one for each test.
pub fn framework_world(world: &World, presets: &[FrameworkPreset]) -> (World, Vec<MemberId>) {
    let mut made = Framework { world, names: world.names.clone(), classes: Vec::new() };
    let own = made.names.intern(FRAMEWORK);
    let mut mains = Vec::new();
    let mut fields = Vec::new();
    let entries = made.requests(presets);
    if !entries.is_empty() {
        let (main, more) = made.serve(own, &entries, presets);
        mains.push(main);
        fields = more;
    }
    if presets.contains(&FrameworkPreset::Junit) {
        let tests = made.called(|class, one| made.is_test(class, one));
        mains.extend(tests.into_iter().map(|test| made.test(test)));
    }
    made.stubs();
    let numbers = 0..mains.len();
    let Framework { names, mut classes, .. } = made;
    classes.push(class(own, None, fields, mains, &names));
    let all = world.classes.iter().cloned().chain(classes);
    let made = World::new(names, all.collect::<Vec<_>>());
    let begins = made.find(own).map(|class| numbers.map(move |number| MemberId { class, number }));
    let begins = begins.into_iter().flatten().collect();
    (made, begins)
}

/// A class without constructors of its own.
fn class(
    name: JavaName,
    interface: Option<JavaName>,
    fields: Vec<JavaField>,
    methods: Vec<JavaMethod>,
    names: &JavaNames,
) -> JavaClass {
    JavaClass {
        name,
        version: 52,
        access: JavaAccess(0x0001),
        superclass: names.find("java/lang/Object"),
        interfaces: interface.into_iter().collect(),
        fields,
        methods,
        source: None,
        bootstraps: Vec::new(),
        annotations: Vec::new(),
    }
}

/// A method that a framework calls, on an object of a class.
#[derive(Clone, Copy)]
struct Called {
    class: ClassId,
    method: MemberId,
}

struct Framework<'a> {
    world: &'a World,
    names: JavaNames,
    /// The classes that were made.
    classes: Vec<JavaClass>,
}

impl<'a> Framework<'a> {
    /// The methods that a framework calls, each with a class that it makes objects of and that has the method, by
    /// itself or from above.
    fn called(&self, is_called: impl Fn(ClassId, MemberId) -> bool) -> Vec<Called> {
        let mut found = Vec::new();
        for class in self.world.classes.ids().filter(|&class| self.can_be_made(class)) {
            let line = self.world.line(class).0.into_iter().chain(self.world.interfaces(class).0);
            let mut seen = BTreeSet::new();
            for above in line {
                for (number, of) in self.world.classes[above].methods.iter().enumerate() {
                    let method = MemberId { class: above, number };
                    if is_called(class, method) && seen.insert((of.name, of.descriptor)) {
                        found.push(Called { class, method });
                    }
                }
            }
        }
        found
    }

    fn name(&self, method: MemberId) -> &'a str {
        self.world.names.text(self.world.of(method).name)
    }

    fn has(&self, method: MemberId, annotations: &[&str]) -> bool {
        let all = &self.world.of(method).annotations;
        annotations.iter().any(|one| annotated(self.world, all, one).is_some())
    }

    /// Whether something above a class has such a simple name, in the world or outside.
    fn is_a(&self, class: ClassId, wanted: &[&str]) -> bool {
        let simple = |name: JavaName| {
            let text = self.world.names.text(name);
            text.rsplit(['/', '$']).next().unwrap_or(text)
        };
        let line = self.world.line(class).0.into_iter().chain(self.world.interfaces(class).0);
        line.flat_map(|one| {
            let of = &self.world.classes[one];
            of.superclass.iter().chain(&of.interfaces).copied().collect::<Vec<_>>()
        })
        .any(|name| wanted.contains(&simple(name)))
    }

    /// The methods that are called for requests.
    fn requests(&self, presets: &[FrameworkPreset]) -> Vec<Called> {
        let servlets = presets.contains(&FrameworkPreset::Servlet);
        let spring = presets.contains(&FrameworkPreset::Spring);
        self.called(|class, one| {
            let own = self.world.names.text(self.world.classes[one.class].name);
            let for_servlet = || {
                SERVLET_METHODS.contains(&self.name(one))
                    && !["javax/servlet/", "jakarta/servlet/"].iter().any(|of| own.starts_with(of))
                    && self.is_a(class, &SERVLET_TYPES)
            };
            (servlets && for_servlet()) || (spring && self.has(one, &SPRING_METHODS))
        })
    }

    fn can_be_made(&self, class: ClassId) -> bool {
        let of = &self.world.classes[class];
        !of.access.is_interface() && !of.access.is_abstract()
    }

    fn is_test(&self, class: ClassId, method: MemberId) -> bool {
        let old = self.name(method).starts_with("test") && self.is_a(class, &["TestCase"]);
        old || self.has(method, &TESTS)
    }

    /// Classes of a framework that others extend and that are not there do nothing by themselves: whatever they
    /// call, the program that is made calls.
    fn stubs(&mut self) {
        let mut wanted: BTreeMap<JavaName, BTreeSet<(JavaName, JavaName)>> = BTreeMap::new();
        let missing = |class: ClassId| {
            let name = self.world.line(class).1?;
            let text = self.world.names.text(name);
            let simple = text.rsplit('/').next().unwrap_or(text);
            (SERVLET_TYPES.contains(&simple) || simple == "TestCase").then_some(name)
        };
        for class in self.world.classes.ids() {
            let Some(stub) = missing(class) else { continue };
            let methods = wanted.entry(stub).or_default();
            let bodies =
                self.world.classes[class].methods.iter().filter_map(|one| one.body.as_ref());
            for instruction in bodies.flat_map(|body| &body.instructions) {
                let JavaInstruction::Invoke(InvokeKind::Special | InvokeKind::Virtual, member) =
                    instruction
                else {
                    continue;
                };
                let own = member.class == stub
                    || self.world.find(member.class).and_then(missing) == Some(stub);
                if own && !matches!(self.world.method(*member), Resolution::Found(_)) {
                    methods.insert((member.name, member.descriptor));
                }
            }
        }
        for (stub, members) in wanted {
            let mut methods = Vec::new();
            for (name, descriptor) in members {
                let (name, descriptor) =
                    (self.names.text(name).to_owned(), self.names.text(descriptor).to_owned());
                let result = descriptor.rsplit(')').next().unwrap_or("V").to_owned();
                let mut code = Vec::new();
                self.argument(&mut code, &result);
                code.push(JavaInstruction::Return(kind_of_field(&result)));
                let kinds = parameters_of_method(&descriptor).into_iter().filter_map(kind_of_field);
                let locals = 1 + kinds.map(JavaKind::width).sum::<u16>();
                let access = JavaAccess(0x0001);
                methods.push(self.method((&name, &descriptor), access, locals, code));
            }
            self.classes.push(class(stub, None, Vec::new(), methods, &self.names));
        }
    }

    /// The constructor that a framework calls: the one that is marked, or the shortest one.
    fn constructor(&self, class: ClassId) -> Option<MemberId> {
        let of = &self.world.classes[class];
        let numbers = 0..of.methods.len();
        let all = numbers.map(|number| MemberId { class, number });
        all.filter(|&one| self.name(one) == "<init>").min_by_key(|&one| {
            let descriptor = self.names.text(self.world.of(one).descriptor);
            (!self.has(one, &INJECTED), parameters_of_method(descriptor).len(), one)
        })
    }

    fn member(&self, method: MemberId) -> JavaMember {
        let of = self.world.of(method);
        JavaMember {
            class: self.world.classes[method.class].name,
            name: of.name,
            descriptor: of.descriptor,
        }
    }

    /// A call of a method on what is on the stack, with arguments from wherever they come.
    fn call(&mut self, code: &mut Vec<JavaInstruction>, method: MemberId) {
        self.call_on(code, Called { class: method.class, method });
    }

    fn call_on(&mut self, code: &mut Vec<JavaInstruction>, Called { class, method }: Called) {
        let is_static = self.world.of(method).access.is_static();
        let class = if is_static { method.class } else { class };
        let class = self.world.classes[class].name;
        let member = JavaMember { class, ..self.member(method) };
        let descriptor = self.names.text(member.descriptor).to_owned();
        for parameter in parameters_of_method(&descriptor) {
            self.argument(code, parameter);
        }
        let how = match self.name(method) {
            "<init>" => InvokeKind::Special,
            _ if is_static => InvokeKind::Static,
            _ => InvokeKind::Virtual,
        };
        code.push(JavaInstruction::Invoke(how, member));
        let result = descriptor.rsplit(')').next().unwrap_or("V");
        if let Some(kind) = kind_of_field(result) {
            let two = kind.width() == 2;
            let drop = if two { StackOperation::Pop2 } else { StackOperation::Pop };
            code.push(JavaInstruction::Stack(drop));
        }
    }

    /// A value of a type: what is injected, something new of a class that can be made, or what code outside gives.
    fn argument(&mut self, code: &mut Vec<JavaInstruction>, descriptor: &str) {
        let Some(kind) = kind_of_field(descriptor) else { return };
        let constant = match kind {
            JavaKind::Int => JavaConstant::Int(0),
            JavaKind::Long => JavaConstant::Long(0),
            JavaKind::Float => JavaConstant::Float(0.0),
            JavaKind::Double => JavaConstant::Double(0.0),
            JavaKind::Reference => {
                let field = self.injected(descriptor);
                let own = self.class_of(descriptor).filter(|&one| self.can_be_made(one));
                let plain = own.and_then(|one| self.constructor(one)).filter(|&one| {
                    let of = self.names.text(self.world.of(one).descriptor);
                    parameters_of_method(of).is_empty()
                });
                match (field, plain) {
                    (Some(field), _) => {
                        code.push(JavaInstruction::Field(FieldAccess::GetStatic, field));
                    }
                    (None, Some(constructor)) => self.make(code, constructor),
                    (None, None) => {
                        let member = JavaMember {
                            class: self.names.intern("outside"),
                            name: self.names.intern("given"),
                            descriptor: self.names.intern(&format!("(){descriptor}")),
                        };
                        code.push(JavaInstruction::Invoke(InvokeKind::Static, member));
                    }
                }
                return;
            }
        };
        code.push(JavaInstruction::Constant(constant));
    }

    /// The class of the world that a type is.
    fn class_of(&self, descriptor: &str) -> Option<ClassId> {
        let name = descriptor.strip_prefix('L')?.strip_suffix(';')?;
        self.world.find(self.world.names.find(name)?)
    }

    /// The static field that has all objects of a type that are injected, if there are some.
    fn injected(&self, descriptor: &str) -> Option<JavaMember> {
        let name = self.names.find(&field_name(descriptor))?;
        let (class, descriptor) = (self.names.find(FRAMEWORK)?, self.names.find(descriptor)?);
        Some(JavaMember { class, name, descriptor })
    }

    /// Something new.
    fn make(&mut self, code: &mut Vec<JavaInstruction>, constructor: MemberId) {
        code.push(JavaInstruction::New(self.world.classes[constructor.class].name));
        code.push(JavaInstruction::Stack(StackOperation::Dup));
        self.call(code, constructor);
    }

    /// The fields of a class, and of those above it, that are injected.
    fn injected_fields(&self, class: ClassId) -> Vec<JavaMember> {
        let line = self.world.line(class).0;
        let mut found = Vec::new();
        for one in line {
            for field in &self.world.classes[one].fields {
                let is = |name: &&str| annotated(self.world, &field.annotations, name).is_some();
                let (name, descriptor) = (field.name, field.descriptor);
                if !field.access.is_static() && INJECTED.iter().any(is) {
                    let class = self.world.classes[one].name;
                    found.push(JavaMember { class, name, descriptor });
                }
            }
        }
        found
    }

    /// The methods by which an object of a class is set up.
    fn set_up(&self, class: ClassId) -> Vec<MemberId> {
        let line = self.world.line(class).0;
        let all = line.into_iter().flat_map(|class| {
            let numbers = 0..self.world.classes[class].methods.len();
            numbers.map(move |number| MemberId { class, number })
        });
        all.filter(|&one| {
            let of = self.world.of(one);
            let named = SET_UP_NAMES.contains(&self.name(one)) && !of.access.is_private();
            of.body.is_some()
                && !of.access.is_static()
                && self.name(one) != "<init>"
                && (named || self.has(one, &SET_UP))
        })
        .collect()
    }

    /// The classes of which a framework makes one object.
    fn beans(&self, entries: &[Called], presets: &[FrameworkPreset]) -> BTreeSet<ClassId> {
        let mut beans: BTreeSet<ClassId> = entries.iter().map(|one| one.class).collect();
        if presets.contains(&FrameworkPreset::Spring) {
            for (class, of) in self.world.classes.iter_enumerated() {
                let is = |name: &&str| annotated(self.world, &of.annotations, name).is_some();
                if self.can_be_made(class) && SPRING_CLASSES.iter().any(is) {
                    beans.insert(class);
                }
            }
        }
        beans
    }

    /// The program that serves requests, and the static fields that it needs.
    fn serve(
        &mut self,
        own: JavaName,
        entries: &[Called],
        presets: &[FrameworkPreset],
    ) -> (JavaMethod, Vec<JavaField>) {
        let beans = self.beans(entries, presets);
        // Whatever is injected somewhere, with the classes that fit.
        let mut types: BTreeMap<String, Vec<ClassId>> = BTreeMap::new();
        for &bean in &beans {
            let line = self.world.line(bean).0.into_iter().chain(self.world.interfaces(bean).0);
            for above in line {
                let name = self.world.names.text(self.world.classes[above].name);
                types.entry(format!("L{name};")).or_default().push(bean);
            }
        }
        let mut fields = Vec::new();
        for descriptor in types.keys() {
            fields.push(JavaField {
                name: self.names.intern(&field_name(descriptor)),
                descriptor: self.names.intern(descriptor),
                access: JavaAccess(0x0008),
                constant: None,
                annotations: Vec::new(),
            });
        }
        let mut code = Vec::new();
        let mut locals = 1;
        let mut local_of: BTreeMap<ClassId, u16> = BTreeMap::new();
        for &bean in &beans {
            let Some(constructor) = self.constructor(bean) else { continue };
            self.make(&mut code, constructor);
            code.push(JavaInstruction::Store(JavaKind::Reference, locals));
            local_of.insert(bean, locals);
            locals += 1;
            for (descriptor, _) in types.iter().filter(|(_, fitting)| fitting.contains(&bean)) {
                if let Some(field) = self.injected(descriptor) {
                    code.push(JavaInstruction::Load(JavaKind::Reference, local_of[&bean]));
                    code.push(JavaInstruction::Field(FieldAccess::PutStatic, field));
                }
            }
        }
        for (&bean, &local) in &local_of {
            for field in self.injected_fields(bean) {
                code.push(JavaInstruction::Load(JavaKind::Reference, local));
                let descriptor = self.names.text(field.descriptor).to_owned();
                self.argument(&mut code, &descriptor);
                code.push(JavaInstruction::Field(FieldAccess::Put, field));
            }
        }
        for (&bean, &local) in &local_of {
            for method in self.set_up(bean) {
                code.push(JavaInstruction::Load(JavaKind::Reference, local));
                self.call(&mut code, method);
            }
        }
        let again = At::from_index(code.len());
        for &entry in entries {
            self.start(&mut code, own, entry);
        }
        code.push(JavaInstruction::Constant(JavaConstant::Int(0)));
        let back = BranchCondition::Zero(Comparison::Equal);
        code.push(JavaInstruction::Branch(back, again));
        code.push(JavaInstruction::Return(None));
        let main =
            self.method(("main", "([Ljava/lang/String;)V"), JavaAccess(0x0009), locals, code);
        (main, fields)
    }

    /// A thread that calls a method is started.
    fn start(&mut self, code: &mut Vec<JavaInstruction>, own: JavaName, called: Called) {
        let entry = called.method;
        let bean = self.world.classes[called.class].name;
        let text = self.world.names.text(bean).to_owned();
        let mut run = Vec::new();
        if !self.world.of(entry).access.is_static() {
            let descriptor = self.names.intern(&format!("L{text};"));
            let name = self.names.intern(&field_name(&format!("L{text};")));
            let field = JavaMember { class: own, name, descriptor };
            run.push(JavaInstruction::Field(FieldAccess::GetStatic, field));
        }
        self.call_on(&mut run, called);
        run.push(JavaInstruction::Return(None));
        let run = self.method(("run", "()V"), JavaAccess(0x0001), 1, run);
        let short = text.rsplit('/').next().unwrap_or(&text).replace('$', ".");
        let number = self.classes.len();
        let wanted = format!("{short}.{}", self.name(entry));
        // Methods of one name are told apart.
        let is_taken = self.names.find(&wanted).is_some_and(|name| {
            self.world.find(name).is_some() || self.classes.iter().any(|one| one.name == name)
        });
        let name = self.names.intern(&if is_taken { format!("{wanted} {number}") } else { wanted });
        let object = self.names.intern("java/lang/Object");
        let (init, nothing) = (self.names.intern("<init>"), self.names.intern("()V"));
        let above = JavaMember { class: object, name: init, descriptor: nothing };
        let constructor = vec![
            JavaInstruction::Load(JavaKind::Reference, 0),
            JavaInstruction::Invoke(InvokeKind::Special, above),
            JavaInstruction::Return(None),
        ];
        let constructor = self.method(("<init>", "()V"), JavaAccess(0x0001), 1, constructor);
        let runnable = self.names.intern("java/lang/Runnable");
        let made = class(name, Some(runnable), Vec::new(), vec![constructor, run], &self.names);
        self.classes.push(made);
        let thread = self.names.intern("java/lang/Thread");
        let takes = self.names.intern("(Ljava/lang/Runnable;)V");
        let start = self.names.intern("start");
        code.extend([
            JavaInstruction::New(thread),
            JavaInstruction::Stack(StackOperation::Dup),
            JavaInstruction::New(name),
            JavaInstruction::Stack(StackOperation::Dup),
            JavaInstruction::Invoke(
                InvokeKind::Special,
                JavaMember { class: name, name: init, descriptor: nothing },
            ),
            JavaInstruction::Invoke(
                InvokeKind::Special,
                JavaMember { class: thread, name: init, descriptor: takes },
            ),
            JavaInstruction::Invoke(
                InvokeKind::Virtual,
                JavaMember { class: thread, name: start, descriptor: nothing },
            ),
        ]);
    }

    /// The program of a test.
    fn test(&mut self, Called { class: made, method: test }: Called) -> JavaMethod {
        let mut code = Vec::new();
        let line = self.world.line(made).0;
        let own: Vec<MemberId> = line
            .into_iter()
            .rev()
            .flat_map(|class| {
                let numbers = 0..self.world.classes[class].methods.len();
                numbers.map(move |number| MemberId { class, number })
            })
            .filter(|&one| self.world.of(one).body.is_some())
            .collect();
        let is_static = |one: &MemberId| self.world.of(*one).access.is_static();
        let marked = |names: &[&str], old: &str| -> Vec<MemberId> {
            let all = own.iter().copied();
            all.filter(|&one| self.has(one, names) || self.name(one) == old).collect()
        };
        let before = marked(&BEFORE_TESTS, "setUp");
        let after = marked(&AFTER_TESTS, "tearDown");
        let (first, own_before): (Vec<MemberId>, Vec<MemberId>) =
            before.into_iter().partition(is_static);
        for method in first {
            self.call(&mut code, method);
        }
        if let Some(constructor) = self.constructor(made) {
            self.make(&mut code, constructor);
            code.push(JavaInstruction::Store(JavaKind::Reference, 1));
            for method in own_before.into_iter().chain([test]).chain(after) {
                if !self.world.of(method).access.is_static() {
                    code.push(JavaInstruction::Load(JavaKind::Reference, 1));
                }
                self.call_on(&mut code, Called { class: made, method });
            }
        }
        code.push(JavaInstruction::Return(None));
        let class = self.world.names.text(self.world.classes[made].name);
        let short = class.rsplit('/').next().unwrap_or(class).replace('$', ".");
        let name = format!("{short}.{}", self.name(test));
        self.method((&name, "([Ljava/lang/String;)V"), JavaAccess(0x0009), 2, code)
    }

    fn method(
        &mut self,
        (name, descriptor): (&str, &str),
        access: JavaAccess,
        max_locals: u16,
        instructions: Vec<JavaInstruction>,
    ) -> JavaMethod {
        let (name, descriptor) = (self.names.intern(name), self.names.intern(descriptor));
        JavaMethod::made(name, descriptor, access, max_locals, instructions)
    }
}

/// The name of the static field that has what is injected of a type.
fn field_name(descriptor: &str) -> String {
    format!("of {descriptor}")
}
