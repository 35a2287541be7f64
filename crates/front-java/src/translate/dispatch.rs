//! # Idea
//! The target of each method for each type, as the machine selects it: of the class itself, of those
//! above it, of its interfaces. A type without a target has the method of a class that is not given.
//!
//! # Source
//! JVMS 5.4.6. Deviation: an object of a class whose hierarchy is not given completely may be of any
//! type that is not given, so it has a target for each method of the same name and descriptor.

use super::{LambdaType, Translator};
use crate::class::JavaMember;
use crate::names::{JavaName, kinds_of_method};
use crate::world::{ClassId, MemberId, World};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::Id;
use selvedge_code::model::{MethodId, ProcedureId, TypeId};
use std::collections::BTreeSet;

/// Who is below whom, and who declares what.
struct Hierarchy {
    /// The classes whose objects are of a class, by its name; itself among them.
    below: FxHashMap<JavaName, Vec<ClassId>>,
    /// The classes above which something is not given that could be anything.
    open: FxHashSet<ClassId>,
    /// The classes that declare a method for objects, with a body.
    declaring: FxHashMap<(JavaName, JavaName), Vec<ClassId>>,
}

impl Hierarchy {
    fn new(world: &World) -> Self {
        let object = world.known().object;
        let mut below: FxHashMap<JavaName, Vec<ClassId>> = FxHashMap::default();
        let mut open = FxHashSet::default();
        let mut declaring: FxHashMap<(JavaName, JavaName), Vec<ClassId>> = FxHashMap::default();
        for (class, of) in world.classes.iter_enumerated() {
            let mut names: BTreeSet<JavaName> = BTreeSet::from([of.name]);
            let interfaces = world.interfaces(class).0;
            for one in world.line(class).0.into_iter().chain(interfaces) {
                let one = &world.classes[one];
                names.insert(one.name);
                names.extend(one.superclass.iter().chain(&one.interfaces));
            }
            if names.iter().any(|&name| name != object && world.find(name).is_none()) {
                open.insert(class);
            }
            for name in names {
                below.entry(name).or_default().push(class);
            }
            for method in &of.methods {
                if !method.access.is_static() && method.body.is_some() {
                    let list = declaring.entry((method.name, method.descriptor)).or_default();
                    if list.last() != Some(&class) {
                        list.push(class);
                    }
                }
            }
        }
        Self { below, open, declaring }
    }
}

impl Translator<'_> {
    /// Gives all methods their targets.
    pub(super) fn targets(&mut self) {
        let hierarchy = Hierarchy::new(self.world);
        for number in 0..self.called.len() {
            let member = self.called[number];
            let mut targets = self.targets_of(&hierarchy, member);
            targets.extend(self.lambda_targets(member));
            targets.sort_unstable_by_key(|&(ty, _)| ty);
            targets.dedup_by_key(|&mut (ty, _)| ty);
            self.made.module.methods[MethodId::from_index(number)].targets = targets;
        }
    }

    fn targets_of(&self, hierarchy: &Hierarchy, member: JavaMember) -> Vec<(TypeId, ProcedureId)> {
        let world = self.world;
        let none = Vec::new();
        let declaring = hierarchy.declaring.get(&(member.name, member.descriptor));
        let mut candidates: BTreeSet<ClassId> = BTreeSet::new();
        for &class in declaring.unwrap_or(&none) {
            let name = world.classes[class].name;
            candidates.extend(hierarchy.below.get(&name).unwrap_or(&none));
        }
        let is_given = world.find(member.class).is_some();
        let of_type: FxHashSet<ClassId> =
            hierarchy.below.get(&member.class).unwrap_or(&none).iter().copied().collect();
        let fits = |class: &ClassId| {
            of_type.contains(class)
                || member.class == world.known().object
                || (!is_given && hierarchy.open.contains(class))
        };
        let has_objects = |class: &ClassId| {
            let access = world.classes[*class].access;
            !access.is_interface() && !access.is_abstract()
        };
        let all = candidates.into_iter().filter(|one| fits(one) && has_objects(one));
        all.filter_map(|class| {
            let target = self.selected(class, member)?;
            let ty = self.types[&world.classes[class].name];
            Some((ty, self.made.procedures[&target]))
        })
        .collect()
    }

    /// The method that an object of exactly this class has.
    fn selected(&self, class: ClassId, member: JavaMember) -> Option<MemberId> {
        let world = self.world;
        let (line, broken) = world.line(class);
        let declared = |class: ClassId| {
            let methods = &world.classes[class].methods;
            let number = methods.iter().position(|one| {
                (one.name, one.descriptor) == (member.name, member.descriptor)
                    && !one.access.is_static()
                    && !one.access.is_private()
            });
            number.map(|number| MemberId { class, number })
        };
        let meant = match world.method(member) {
            crate::world::Resolution::Found(meant) => Some(meant),
            _ => None,
        };
        let own = line.iter().filter_map(|&one| declared(one));
        let mut own = own.filter(|&one| self.overrides(&line, one, meant));
        if let Some(found) = own.next() {
            return Some(found);
        }
        let (interfaces, _) = world.interfaces(class);
        let candidates: Vec<MemberId> = interfaces
            .iter()
            .filter_map(|&one| declared(one))
            .filter(|&one| world.of(one).body.is_some())
            .collect();
        let overridden = |one: &MemberId| {
            let mut others = candidates.iter().filter(|other| other.class != one.class);
            others.any(|other| world.extends(other.class, one.class) == Some(true))
        };
        // What a class above has counts before what interfaces have; of threads that is known.
        let has_own = broken.is_some_and(|name| self.text(name) == "java/lang/Thread")
            && member.name == world.known().run;
        candidates.iter().find(|one| !overridden(one)).filter(|_| !has_own).copied()
    }

    /// Whether a method of a class in this line is or overrides the one that a call means: one that
    /// is visible in its package only is overridden there, or by what overrides it there.
    fn overrides(&self, line: &[ClassId], one: MemberId, meant: Option<MemberId>) -> bool {
        let world = self.world;
        let Some(meant) = meant.filter(|meant| line.contains(&meant.class)) else { return true };
        let access = world.of(meant).access;
        if one == meant || access.is_public() || access.is_protected() {
            return true;
        }
        let package = |class: ClassId| {
            let text = self.text(world.classes[class].name);
            text.rsplit_once('/').map_or("", |(package, _)| package)
        };
        if package(one.class) == package(meant.class) {
            return true;
        }
        // Between the two something in the package may have made it visible.
        let between = line.iter().skip_while(|&&class| class != one.class).skip(1);
        let mut between = between.take_while(|&&class| class != meant.class);
        between.any(|&class| {
            package(class) == package(meant.class)
                && world.classes[class].methods.iter().any(|method| {
                    (method.name, method.descriptor)
                        == (world.of(meant).name, world.of(meant).descriptor)
                        && (method.access.is_public() || method.access.is_protected())
                })
        })
    }

    /// What lambdas have as this method: their own procedure, or a method of their interface.
    fn lambda_targets(&self, member: JavaMember) -> Vec<(TypeId, ProcedureId)> {
        let world = self.world;
        let text = self.text(member.descriptor);
        let Some((taken, gives)) = kinds_of_method(text) else { return Vec::new() };
        let of_type = |interface: JavaName| {
            if interface == member.class || member.class == world.known().object {
                return true;
            }
            match (world.find(interface), world.find(member.class)) {
                (Some(one), Some(other)) => world.extends(one, other) != Some(false),
                _ => true,
            }
        };
        let target = |lambda: &LambdaType| {
            let class = world.find(lambda.interface);
            if let Some(found) = class.and_then(|class| self.selected(class, member)) {
                return Some(self.made.procedures[&found]);
            }
            let procedure = &self.made.module.procedures[lambda.procedure];
            let fits = lambda.method == member.name
                && lambda.arguments == taken.len()
                && procedure.returns.len() == usize::from(gives.is_some());
            fits.then_some(lambda.procedure)
        };
        let own = self.lambdas.iter().filter(|lambda| of_type(lambda.interface));
        own.filter_map(|lambda| Some((lambda.ty, target(lambda)?))).collect()
    }
}
